package clients

import (
	"path/filepath"
	"testing"
)

// startCaddy runs the example for Caddy.
func startCaddy(t *testing.T, guard, app string) string {
	t.Helper()
	program, dir, address := installed(t, "caddy", "caddy"), t.TempDir(), free(t)
	file := write(t, filepath.Join(dir, "Caddyfile"), example(t, "caddy/Caddyfile",
		"REPLACE-WITH-THE-CALLER-KEY", key,
		"127.0.0.1:8080", guard, "127.0.0.1:3000", app, "http://127.0.0.1:8000", "http://"+address))
	run(t, address, []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}, program,
		"run", "--config", file, "--adapter", "caddyfile")
	return address
}

func TestCaddyAsksBeforeTheLogin(t *testing.T) {
	asksBeforeTheLogin(t, "caddy/loginguard.yaml", startCaddy)
}
