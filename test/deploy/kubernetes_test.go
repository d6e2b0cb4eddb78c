package deploy

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loginguard/test/internal/service"
)

// manifests returns the objects of the example for Kubernetes by kind.
func manifests(t *testing.T) map[string]object {
	t.Helper()
	all := map[string]object{}
	for _, path := range files(t, "deploy/kubernetes", ".yaml") {
		for _, o := range documents(t, path, read(t, path)) {
			kind := at[string](t, o, "kind")
			if all[kind] != nil {
				t.Errorf("there are two objects of the kind %s", kind)
			}
			all[kind] = o
			if kind != "Kustomization" && at[string](t, o, "metadata", "name") != "loginguard" {
				t.Errorf("%s: its name is %v", path, o["metadata"])
			}
		}
	}
	return all
}

func TestKubernetesObjectsBelongTogether(t *testing.T) {
	all := manifests(t)
	pod := at[object](t, all["Deployment"], "spec", "template")
	labels := at[object](t, pod, "metadata", "labels")
	for what, selector := range map[string]object{
		"Deployment":          at[object](t, all["Deployment"], "spec", "selector", "matchLabels"),
		"Service":             at[object](t, all["Service"], "spec", "selector"),
		"PodDisruptionBudget": at[object](t, all["PodDisruptionBudget"], "spec", "selector", "matchLabels"),
		"NetworkPolicy":       at[object](t, all["NetworkPolicy"], "spec", "podSelector", "matchLabels"),
	} {
		if d := cmp.Diff(labels, selector); d != "" {
			t.Errorf("%s selects other pods (-labels +selector):\n%s", what, d)
		}
	}

	// kubectl apply -k applies all files.
	var listed []string
	for _, r := range at[[]any](t, all["Kustomization"], "resources") {
		listed = append(listed, r.(string))
	}
	for _, path := range files(t, "deploy/kubernetes", ".yaml") {
		if name := filepath.Base(path); name != "kustomization.yaml" && !slices.Contains(listed, name) {
			t.Errorf("kustomization.yaml does not list %s", name)
		}
	}
	if at[int](t, all["Deployment"], "spec", "replicas") <= at[int](t, all["PodDisruptionBudget"], "spec", "maxUnavailable") {
		t.Error("the budget lets all pods go at once")
	}
}

func TestKubernetesPortsAreThoseOfTheConfiguration(t *testing.T) {
	all := manifests(t)
	container := at[object](t, all["Deployment"], "spec", "template", "spec", "containers", 0)
	ports := map[string]int{}
	for _, p := range at[[]any](t, container, "ports") {
		ports[at[string](t, p, "name")] = at[int](t, p, "containerPort")
	}
	config := documents(t, "configmap.yaml", at[string](t, all["ConfigMap"], "data", "config.yaml"))[0]
	for name, port := range ports {
		listen := at[string](t, config, "server", name, "listen")
		host, number, err := net.SplitHostPort(listen)
		if err != nil || number != strconv.Itoa(port) || host != "" {
			t.Errorf("%s listens on %s, the port is %d: %v", name, listen, port, err)
		}
	}
	if got := at[string](t, all["Service"], "spec", "ports", 0, "targetPort"); ports[got] != at[int](t, all["Service"], "spec", "ports", 0, "port") {
		t.Errorf("the service leads to the port %s of %v", got, ports)
	}
	for _, rule := range at[[]any](t, all["NetworkPolicy"], "spec", "ingress") {
		if name := at[string](t, rule, "ports", 0, "port"); ports[name] == 0 {
			t.Errorf("the policy opens the port %s of %v", name, ports)
		}
	}

	// Every probe is a page of the admin listener.
	s := service.Start(t, service.Options{})
	for _, probe := range []string{"startupProbe", "livenessProbe", "readinessProbe"} {
		if port := at[string](t, container, probe, "httpGet", "port"); port != "admin" {
			t.Errorf("%s asks the port %s", probe, port)
		}
		path := at[string](t, container, probe, "httpGet", "path")
		if a := s.Page(path); a.Status != 200 {
			t.Errorf("%s: GET %s is answered %d", probe, path, a.Status)
		}
	}
	annotations := at[object](t, all["Deployment"], "spec", "template", "metadata", "annotations")
	if annotations["prometheus.io/port"] != fmt.Sprint(ports["admin"]) {
		t.Errorf("Prometheus is sent to %v", annotations)
	}
	if a := s.Page(annotations["prometheus.io/path"].(string)); a.Status != 200 {
		t.Errorf("metrics are answered %d", a.Status)
	}
}

func TestKubernetesPodGetsItsFilesAndMayDoNothingElse(t *testing.T) {
	all := manifests(t)
	pod := at[object](t, all["Deployment"], "spec", "template", "spec")
	container := at[object](t, pod, "containers", 0)
	var args []string
	for _, a := range at[[]any](t, container, "args") {
		args = append(args, a.(string))
	}
	flagsExist(t, args)

	mounts, volumes := at[[]any](t, container, "volumeMounts"), at[[]any](t, pod, "volumes")
	for _, m := range mounts {
		named(t, volumes, at[string](t, m, "name"))
		if _, ok := m.(object)["subPath"]; ok {
			t.Errorf("%v: an edit of a file that is mounted by subPath never arrives", m)
		}
	}
	if dir, file := at[string](t, named(t, mounts, "config"), "mountPath"), args[len(args)-1]; filepath.Dir(file) != dir {
		t.Errorf("it reads %s, the configuration is in %s", file, dir)
	}
	secrets := at[object](t, all["Secret"], "stringData")
	env := at[[]any](t, container, "env")
	item := at[object](t, named(t, volumes, "secret"), "secret", "items", 0)
	if _, ok := secrets[item["key"].(string)]; !ok {
		t.Errorf("the secret has no %v", item["key"])
	}
	if want, got := filepath.Join(at[string](t, named(t, mounts, "secret"), "mountPath"), item["path"].(string)),
		at[string](t, named(t, env, "LOGINGUARD_IDENTITY_SECRET_FILE"), "value"); got != want {
		t.Errorf("the secret is read from %s and lies in %s", got, want)
	}
	ref := at[object](t, named(t, env, "LOGINGUARD_STORE_URL"), "valueFrom", "secretKeyRef")
	if _, ok := secrets[ref["key"].(string)]; !ok {
		t.Errorf("the secret has no %v", ref["key"])
	}
	config := at[string](t, all["ConfigMap"], "data", "config.yaml")
	loads(t, config, "LOGINGUARD_IDENTITY_SECRET="+at[string](t, secrets, "identity-secret"), "LOGINGUARD_STORE_URL="+at[string](t, secrets, "store-url"))

	if !at[bool](t, pod, "securityContext", "runAsNonRoot") || !at[bool](t, container, "securityContext", "readOnlyRootFilesystem") ||
		at[bool](t, container, "securityContext", "allowPrivilegeEscalation") || at[bool](t, pod, "automountServiceAccountToken") ||
		!slices.Equal(at[[]any](t, container, "securityContext", "capabilities", "drop"), []any{"ALL"}) {
		t.Error("the pod may do more than it has to")
	}
	// The user is that of the image.
	if user := at[int](t, pod, "securityContext", "runAsUser"); !strings.Contains(read(t, "deploy/Dockerfile"), fmt.Sprintf("USER %d:", user)) {
		t.Errorf("the image has no user %d", user)
	}
	grace := at[int](t, pod, "terminationGracePeriodSeconds")
	if stop := at[int](t, container, "lifecycle", "preStop", "sleep", "seconds"); grace <= stop+15 {
		t.Errorf("the pod is killed after %d s, before a drain of 15 s that begins after %d s", grace, stop)
	}
}
