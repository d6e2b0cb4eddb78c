package topology

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"loginguard/test/internal/redisd"
)

// SentinelUser and SentinelPassword are those of the service at the sentinels
// of a [SecureSentinel], which know nobody else but themselves.
const (
	SentinelUser     = "watcher"
	SentinelPassword = "watcher@password:1"
)

// peer is the user as whom sentinels talk to each other and tests to them.
const peer, peerPassword = "peer", "peer-password"

// SentinelRights is what an ACL line grants to that user, as the manual has it.
func SentinelRights() []string {
	return strings.Fields("resetchannels &+switch-master &+replica-reconf-done -@all +subscribe +sentinel|get-master-addr-by-name +sentinel|sentinels")
}

// pems are the files of a certificate and of what vouches for it.
type pems struct{ cert, key, ca string }

func makePEMs(t testing.TB) pems {
	t.Helper()
	dir := t.TempDir()
	p := pems{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "ca.pem")}
	certificate(t, p.cert, p.key, p.ca)
	return p
}

// arguments make a redis-server speak TLS to clients at a port and to replicas.
func (p pems) arguments(port int) []string {
	return []string{"--tls-port", fmt.Sprint(port), "--tls-cert-file", p.cert, "--tls-key-file", p.key, "--tls-ca-cert-file", p.ca,
		"--tls-auth-clients", "no", "--tls-replication", "yes", "--repl-diskless-sync-delay", "0"}
}

// SecureSentinel is a master, a replica and three sentinels that talk TLS and
// nothing else to each other and to clients. The servers have the user of
// [Secure], the sentinels one of their own. The plain ports of the servers are
// for the test itself.
type SecureSentinel struct {
	Master, Replica *redisd.Server // as they were started
	CAFile          string         // that all certificates lead to

	t         testing.TB
	addrs     []string                // of the sentinels
	sentinels []*redis.SentinelClient // that may do anything
}

// StartSecureSentinel starts the group and returns when it can fail over.
func StartSecureSentinel(t testing.TB) *SecureSentinel {
	t.Helper()
	p := makePEMs(t)
	s := &SecureSentinel{t: t, CAFile: p.ca}
	first, second := redisd.FreePort(t), redisd.FreePort(t)
	s.Master = redisd.Start(t, p.arguments(first)...)
	s.Replica = redisd.Start(t, append(p.arguments(second), "--replicaof", fmt.Sprint("127.0.0.1 ", first))...)
	AwaitLink(t, s.Replica)
	for _, r := range []*redisd.Server{s.Master, s.Replica} {
		r.Do(grant(User, Password, Rights())...)
	}
	for range sentinels {
		port := redisd.FreePort(t)
		s.addrs = append(s.addrs, fmt.Sprintf("127.0.0.1:%d", port))
		runSentinel(t, append(watching(fmt.Sprint("127.0.0.1 ", first), failoverTimeout),
			"port 0", fmt.Sprintf("tls-port %d", port), "tls-cert-file "+p.cert, "tls-key-file "+p.key, "tls-ca-cert-file "+p.ca,
			"tls-auth-clients no", "tls-replication yes",
			"user default off", fmt.Sprintf("user %s on >%s ~* &* +@all", peer, peerPassword),
			"user "+SentinelUser+" on >"+SentinelPassword+" "+strings.Join(SentinelRights(), " "),
			"sentinel sentinel-user "+peer, "sentinel sentinel-pass "+peerPassword))
	}
	for i := range s.addrs {
		c := s.sentinel(i)
		s.sentinels = append(s.sentinels, c)
		Await(t, "the sentinels to know the group", func() bool {
			m, err := c.Master(context.Background(), masterName).Result()
			return err == nil && m["num-slaves"] == "1" && m["num-other-sentinels"] == fmt.Sprint(sentinels-1) && m["flags"] == "master"
		})
	}
	return s
}

// sentinel returns a client of one sentinel that may do anything; it is closed
// with the test.
func (s *SecureSentinel) sentinel(i int) *redis.SentinelClient {
	s.t.Helper()
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c := redis.NewSentinelClient(&redis.Options{Addr: s.addrs[i], Username: peer, Password: peerPassword, Protocol: 2,
		TLSConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}})
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// Admit gives the service's user at the sentinels a password and these rights,
// and no others, and ends its connections.
func (s *SecureSentinel) Admit(password string, rights []string) {
	s.t.Helper()
	for i := range s.addrs {
		s.do(i, grant(SentinelUser, password, rights)...)
		s.do(i, "CLIENT", "KILL", "USER", SentinelUser)
	}
}

// Refused returns the commands that the sentinels refused to a user, in lower
// case.
func (s *SecureSentinel) Refused(user string) []string {
	s.t.Helper()
	var commands []string
	for i := range s.addrs {
		entries, _ := s.do(i, "ACL", "LOG").([]any)
		for _, e := range entries {
			fields, _ := e.([]any)
			entry := make(map[string]string)
			for k := 0; k+1 < len(fields); k += 2 {
				entry[fmt.Sprint(fields[k])] = fmt.Sprint(fields[k+1])
			}
			if entry["username"] == user {
				commands = append(commands, strings.ToLower(entry["object"]))
			}
		}
	}
	return commands
}

// do runs a command on one sentinel.
func (s *SecureSentinel) do(i int, args ...any) any {
	s.t.Helper()
	cmd := redis.NewCmd(context.Background(), args...)
	if err := s.sentinels[i].Process(context.Background(), cmd); err != nil {
		s.t.Fatalf("sentinel: %v: %v", args[:2], err)
	}
	v, _ := cmd.Result()
	return v
}

// URL returns the store URL of the group, as both users.
func (s *SecureSentinel) URL() string {
	return fmt.Sprintf("rediss+sentinel://%s:%s@%s/%s?sentinel_user=%s&sentinel_password=watcher%%40password%%3A1",
		User, Password, strings.Join(s.addrs, ","), masterName, SentinelUser)
}

// SecureCluster is three masters with a replica each, that talk TLS to each
// other and to clients; plain TCP is for the test itself.
type SecureCluster struct {
	*Cluster
	CAFile string // that all certificates lead to

	ports []int // for TLS
}

// StartSecureCluster starts the cluster and makes the user of [Secure] on every
// node.
func StartSecureCluster(t testing.TB) *SecureCluster {
	t.Helper()
	p := makePEMs(t)
	s := &SecureCluster{CAFile: p.ca}
	s.Cluster = startCluster(t, func() (int, []string) {
		port := busPort(t)
		s.ports = append(s.ports, port)
		return port, append(p.arguments(port), "--tls-cluster", "yes")
	})
	s.Allow(ClusterRights())
	return s
}

// URL returns the store URL of the cluster as that user, over TLS.
func (s *SecureCluster) URL() string {
	return fmt.Sprintf("rediss+cluster://%s:%s@127.0.0.1:%d,127.0.0.1:%d", User, Password, s.ports[0], s.ports[nodes-1])
}

// grant is the command that makes a user who may do so much and no more.
func grant(user, password string, rights []string) []any {
	line := []any{"ACL", "SETUSER", user, "reset", "on", ">" + password}
	for _, r := range rights {
		line = append(line, r)
	}
	return line
}
