package clients

import (
	"path/filepath"
	"testing"

	"loginguard/test/internal/service"
)

// startNginx runs the example for nginx.
func startNginx(t *testing.T, guard, app string) string {
	t.Helper()
	program, dir, address := installed(t, "nginx", "nginx"), t.TempDir(), free(t)
	file := write(t, filepath.Join(dir, "nginx.conf"), example(t, "nginx/nginx.conf",
		"REPLACE-WITH-THE-CALLER-KEY", key,
		"server 127.0.0.1:8080", "server "+guard, "server 127.0.0.1:3000", "server "+app, "127.0.0.1:8000", address,
		"/run/nginx.pid", filepath.Join(dir, "pid"), "/var/log/nginx/", dir+"/"))
	run(t, address, nil, program, "-p", dir, "-c", file, "-g", "daemon off;")
	return address
}

func TestNginxAsksBeforeTheLogin(t *testing.T) {
	asksBeforeTheLogin(t, "nginx/loginguard.yaml", startNginx)
}

func TestNginxStopsAFloodByItself(t *testing.T) {
	p := proxy{app: startApplication(t), guard: guarded(t, "nginx/loginguard.yaml", service.Options{})}
	p.address = startNginx(t, addressOf(p.guard.API), p.app.address)
	// A burst of 20 and, for as long as the flood takes, 5 a second.
	floodStopsAtTheEdge(t, p, 60)
}
