//go:build kube

package deploy

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

const (
	// startTimeout bounds how long etcd and the API server may take to start on a loaded machine.
	startTimeout = 2 * time.Minute
	// token is the token of the cluster's administrator.
	token = "administrator"
)

// cluster is an API server with its etcd, without controllers or nodes.
type cluster struct {
	config  *rest.Config
	dynamic *dynamic.DynamicClient
	typed   *kubernetes.Clientset
	mapper  meta.RESTMapper

	mu       sync.Mutex
	warnings []string
}

// startCluster starts etcd and an API server on free ports. Both end with the test.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	bin := tool(t, "build.sh")[0]
	dir := t.TempDir()
	etcd, peer, api := freePort(t), freePort(t), freePort(t)
	start(t, dir, bin+"/etcd", "--data-dir", dir+"/etcd", "--unsafe-no-fsync",
		"--listen-client-urls", "http://"+etcd, "--advertise-client-urls", "http://"+etcd,
		"--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer)

	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	keyFile, tokens := dir+"/accounts.key", dir+"/tokens.csv"
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), 0o600))
	require.NoError(t, os.WriteFile(tokens, []byte(token+",administrator,1,system:masters\n"), 0o600))
	host, port, err := net.SplitHostPort(api)
	require.NoError(t, err)
	start(t, dir, bin+"/kube-apiserver", "--etcd-servers", "http://"+etcd, "--cert-dir", dir, "--bind-address", host, "--advertise-address", host,
		"--secure-port", port, "--service-cluster-ip-range", "10.96.0.0/16", "--authorization-mode", "RBAC", "--token-auth-file", tokens,
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", keyFile, "--service-account-signing-key-file", keyFile,
		"--endpoint-reconciler-type", "none",
		// The plugin asks for the account's Secret, which a controller would create.
		"--disable-admission-plugins", "ServiceAccount")

	c := &cluster{}
	c.config = &rest.Config{
		Host: "https://" + api, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAFile: dir + "/apiserver.crt"},
		QPS: 200, Burst: 400, WarningHandlerWithContext: c,
	}
	require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		if _, err := os.Stat(c.config.CAFile); err != nil {
			return false, nil // The server has not created its certificate yet.
		}
		client, err := kubernetes.NewForConfig(c.config)
		if err != nil {
			return false, err
		}
		body, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil && string(body) == "ok", nil
	}), "the API server is not ready; its log is above")
	c.dynamic, err = dynamic.NewForConfig(c.config)
	require.NoError(t, err)
	c.typed, err = kubernetes.NewForConfig(c.config)
	require.NoError(t, err)
	c.addKinds(t)
	return c
}

// tool returns the lines that a script of tools/kubernetes prints.
func tool(t *testing.T, script string) []string {
	t.Helper()
	run := exec.CommandContext(t.Context(), "../../tools/kubernetes/"+script)
	run.Stderr = os.Stderr
	out, err := run.Output()
	require.NoError(t, err, script)
	return strings.Fields(string(out))
}

// start runs a program until the test ends, and logs its output when the test fails.
func start(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	name := filepath.Base(program)
	log, err := os.Create(filepath.Join(dir, name+".log"))
	require.NoError(t, err)
	run := exec.Command(program, args...)
	run.Stdout, run.Stderr, run.Dir = log, log, dir
	run.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, run.Start())
	t.Cleanup(func() {
		_ = run.Process.Signal(os.Interrupt)
		timer := time.AfterFunc(20*time.Second, func() { _ = run.Process.Kill() })
		_ = run.Wait()
		timer.Stop()
		require.NoError(t, log.Close())
		if t.Failed() {
			text, err := os.ReadFile(log.Name())
			require.NoError(t, err)
			t.Logf("%s: %s", name, text[max(0, len(text)-4000):])
		}
	})
}

// freePort returns a free address of the loopback interface.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// HandleWarningHeaderWithContext records a warning of the server: it accepts the object, but finds
// a mistake in it.
func (c *cluster) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warnings = append(c.warnings, text)
}

// takeWarnings returns the warnings since the last call.
func (c *cluster) takeWarnings() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	warnings := c.warnings
	c.warnings = nil
	return warnings
}

// addKinds adds the kinds of operators, and waits until the server serves them.
func (c *cluster) addKinds(t *testing.T) {
	t.Helper()
	kinds := c.dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	var names []string
	for _, dir := range tool(t, "crds.sh") {
		files, err := filepath.Glob(dir + "/*.yaml")
		require.NoError(t, err)
		require.NotEmpty(t, files, dir)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var kind unstructured.Unstructured
			require.NoError(t, yaml.Unmarshal(text, &kind.Object), file)
			if kind.GetKind() != "CustomResourceDefinition" {
				continue
			}
			_, err = kinds.Create(t.Context(), &kind, metav1.CreateOptions{})
			require.NoError(t, err, file)
			names = append(names, kind.GetName())
		}
	}
	for _, name := range names {
		require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
			kind, err := kinds.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return false, err
			}
			conditions, _, err := unstructured.NestedSlice(kind.Object, "status", "conditions")
			for _, condition := range conditions {
				if fields, ok := condition.(map[string]any); ok && fields["type"] == "Established" && fields["status"] == "True" {
					return true, nil
				}
			}
			return false, err
		}), name)
	}
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	require.NoError(t, err)
	// A kind is established shortly before it is found.
	require.NoError(t, wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, startTimeout, true, func(context.Context) (bool, error) {
		resources, err := restmapper.GetAPIGroupResources(client)
		if err != nil {
			return false, nil
		}
		c.mapper = restmapper.NewDiscoveryRESTMapper(resources)
		for _, name := range names {
			resource, group, _ := strings.Cut(name, ".")
			if _, err := c.mapper.KindFor(schema.GroupVersionResource{Group: group, Resource: resource}); err != nil {
				return false, nil
			}
		}
		return true, nil
	}))
	c.takeWarnings()
}

// addNamespace creates a namespace that enforces restricted pods.
func (c *cluster) addNamespace(t *testing.T, name string) {
	t.Helper()
	labels := map[string]string{}
	for _, mode := range []string{"enforce", "warn"} {
		labels["pod-security.kubernetes.io/"+mode] = "restricted"
	}
	_, err := c.typed.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// dryRun lets the server apply a manifest without storing it.
func (c *cluster) dryRun(ctx context.Context, namespace string, manifest []byte) error {
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(manifest, &object.Object); err != nil {
		return err
	}
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var resource dynamic.ResourceInterface = c.dynamic.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		if own := object.GetNamespace(); own != "" {
			namespace = own
		}
		resource = c.dynamic.Resource(mapping.Resource).Namespace(namespace)
	}
	// Send the manifest unchanged, so that the server sees duplicate fields.
	_, err = resource.Patch(ctx, object.GetName(), types.ApplyYAMLPatchType, manifest, metav1.PatchOptions{
		DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict, FieldManager: "test",
	})
	return err
}
