package keys

import (
	"strings"
	"testing"
)

func TestRingsAreEqualBySecretsAndOrder(t *testing.T) {
	one, two := strings.Repeat("QUFB", 11), strings.Repeat("QkJC", 11)
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{one, one, true},
		{one + "," + two, one + "," + two, true},
		{one, two, false},
		{one + "," + two, two + "," + one, false},
		{one, one + "," + two, false},
	} {
		a, err := ParseRing(tt.a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParseRing(tt.b)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Equal(b); got != tt.want {
			t.Errorf("rings of %d and %d secrets are equal: %v, want %v", len(a.secrets), len(b.secrets), got, tt.want)
		}
	}
}
