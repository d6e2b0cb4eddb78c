package store

import (
	"path/filepath"
	"testing"
	"time"

	"loginguard/test/internal/redisd"
)

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "redis.sock")
	s := redisd.Start(t, "--unixsocket", path)
	s.Do("ACL", "SETUSER", "guard", "on", ">word", "~*", "+@all")
	r := openWithin(t, "unix://guard:word@"+path+"?db=3", 5*time.Second)
	admit(t, r, "lg:{b}:x")
	if len(s.Values(t)) != 0 {
		t.Error("the database of the URL was not chosen")
	}
}

// TestSentinel finds the master through a sentinel, and again after it was
// restarted.
func TestSentinel(t *testing.T) {
	s := redisd.Start(t)
	s.Do("ACL", "SETUSER", "guard", "on", ">word", "~*", "+@all")
	watcher := redisd.StartSentinel(t, "main", s)
	r := openWithin(t, "redis+sentinel://guard:word@127.0.0.1:1,"+watcher.Addr+"/main/2", 5*time.Second)
	recovers(t, r, "lg:{b}:x")
	if len(s.Values(t)) != 0 {
		t.Error("the database of the URL was not chosen")
	}
	s.Kill()
	s.Run()
	s.Do("ACL", "SETUSER", "guard", "on", ">word", "~*", "+@all")
	recovers(t, r, "lg:{b}:x")
}
