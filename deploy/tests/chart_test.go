// Package deploy compares the files of deploy/ with the programs. It is a module of its own,
// because Helm and Kubernetes bring many dependencies.
package deploy

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const (
	chartDir  = "../helm/rotaloom"
	release   = "rotaloom"
	namespace = "workforce"
	// kubeVersion is the release of Kubernetes that the chart is rendered for.
	kubeVersion = "v1.34.0"
)

// variants are values for the ways of running the chart.
var variants = map[string]string{
	"as it is": `{}`,
	"with operators": `
tls: {mode: certManager}
database: {mode: cloudNativePG}
propagator: {keda: {enabled: true}}
gateway:
  autoscaling: {enabled: true}
  gatewayAPI: {enabled: true, parentRefs: [{name: edge}]}
tracing: {endpoint: "http://collector.monitoring:4317", ratio: 0.01, peers: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}
monitoring: {podMonitor: true, rules: true, dashboard: true}
networkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}`,
	"with servers of their own": `
secrets: {create: false}
tls: {mode: existing}
database: {mode: secret, secretName: databases, port: 6432, directPort: 5432, peers: [{ipBlock: {cidr: 10.1.0.0/16}}]}
nats: {mode: secret, secretName: brokers, peers: [{ipBlock: {cidr: 10.2.0.0/16}}]}
auth: {keyEncryption: {secretName: key}, administrator: {secretName: first}}
gateway: {https: {secretName: public}, ingress: {enabled: true, className: nginx, tlsSecretName: public}}
networkPolicy: {enabled: false}`,
	"small": `
settings: {LOG_LEVEL: debug}
scheduling: {settings: {STREAM_REPLICAS: 1}}
nats: {bundled: {replicas: 1}}
propagator: {replicas: 1, settings: {LOG_LEVEL: warn, PROPAGATION_CONCURRENCY: 4}}
programDefaults: {nodeSelector: {kubernetes.io/arch: amd64}, tolerations: [{key: small, operator: Exists}], podLabels: {team: hr}, podAnnotations: {note: "yes"}}
image: {pullSecrets: [registry], tag: "1.2.3"}`,
}

// render renders the chart as Helm does, its hooks included.
func render(t *testing.T, values string) []byte {
	t.Helper()
	chart, err := loader.LoadDir(chartDir)
	require.NoError(t, err)
	set := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(values), &set))
	install := action.NewInstall(&action.Configuration{})
	install.DryRun, install.ClientOnly, install.Replace = true, true, true
	install.ReleaseName, install.Namespace = release, namespace
	install.KubeVersion = &chartutil.KubeVersion{Version: kubeVersion, Major: "1", Minor: "34"}
	rendered, err := install.Run(chart, set)
	require.NoError(t, err)
	out := bytes.NewBufferString(rendered.Manifest)
	for _, hook := range rendered.Hooks {
		out.WriteString("---\n" + hook.Manifest + "\n")
	}
	return out.Bytes()
}

// foreign lists the API groups of operators, which are not part of Kubernetes.
var foreign = []string{"cert-manager.io/", "postgresql.cnpg.io/", "keda.sh/", "gateway.networking.k8s.io/", "monitoring.coreos.com/"}

// decode decodes objects of Kubernetes, and refuses unknown fields. It keeps objects of operators
// as they are.
func decode(t *testing.T, manifests []byte) []runtime.Object {
	t.Helper()
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	var objects []runtime.Object
	for reader := utilyaml.NewYAMLReader(newReader(manifests)); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		var any unstructured.Unstructured
		require.NoError(t, yaml.Unmarshal(document, &any.Object), string(document))
		if len(any.Object) == 0 {
			continue
		}
		if slices.ContainsFunc(foreign, func(group string) bool { return strings.HasPrefix(any.GetAPIVersion(), group) }) {
			objects = append(objects, &any)
			continue
		}
		object, _, err := strict.Decode(document, nil, nil)
		require.NoError(t, err, string(document))
		objects = append(objects, object)
	}
}

// selectKind returns the objects of one type, by name.
func selectKind[T any, P interface {
	*T
	runtime.Object
	GetName() string
}](objects []runtime.Object) map[string]P {
	found := map[string]P{}
	for _, object := range objects {
		if typed, ok := object.(P); ok {
			found[typed.GetName()] = typed
		}
	}
	return found
}

// forEachVariant runs a test for every variant of the chart.
func forEachVariant(t *testing.T, test func(t *testing.T, objects []runtime.Object)) {
	t.Helper()
	for name, values := range variants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, decode(t, render(t, values)))
		})
	}
}

func TestKubernetesKnowsEveryVariant(t *testing.T) {
	t.Parallel()
	forEachVariant(t, func(t *testing.T, objects []runtime.Object) {
		names := map[string]bool{}
		for _, object := range objects {
			kind := object.GetObjectKind().GroupVersionKind().Kind
			accessor, ok := object.(interface{ GetName() string })
			require.True(t, ok, kind)
			id := kind + " " + accessor.GetName()
			assert.False(t, names[id], "%s is there twice", id)
			names[id] = true
		}
		assert.NotEmpty(t, names)
	})
}

func TestWrongValuesAreRefused(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]string{
		"a name that does not exist":    `{nats: {replica: 3}}`,
		"two NATS servers":              `{nats: {bundled: {replicas: 2}}}`,
		"a database without its Secret": `{database: {mode: secret}}`,
		"a host that is none":           `{gateway: {hosts: ["no host"]}}`,
		"a setting in small letters":    `{settings: {log_level: debug}}`,
		"what another value says":       `{settings: {TLS_CERT: elsewhere}}`,
		"no replica":                    `{auth: {replicas: 0}}`,
		"a receiver that is not a URL":  `{tracing: {endpoint: "collector:4317"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chart, err := loader.LoadDir(chartDir)
			require.NoError(t, err)
			set := map[string]any{}
			require.NoError(t, yaml.Unmarshal([]byte(values), &set))
			merged, err := chartutil.CoalesceValues(chart, set)
			require.NoError(t, err)
			require.Error(t, chartutil.ValidateAgainstSchema(chart, merged))
		})
	}
}

// With a pooler, each program that has a database also has the URL that bypasses the pooler.
func TestProgramsKnowTheWayPastAPooler(t *testing.T) {
	t.Parallel()
	manifests := string(render(t, `{database: {mode: secret, secretName: databases, port: 6432, directPort: 5432}}`))
	through := strings.Count(manifests, "ROTALOOM_DATABASE_URL_FILE")
	require.NotZero(t, through)
	assert.Equal(t, through, strings.Count(manifests, "ROTALOOM_DATABASE_DIRECT_URL_FILE"))
	assert.Contains(t, manifests, "{key: scheduling-direct, path: direct-url}")
	assert.Contains(t, manifests, "- ports: [{port: 6432}, {port: 5432}]")
	assert.NotContains(t, string(render(t, `{database: {mode: secret, secretName: databases}}`)), "DIRECT")
}

// The users of the broker have the permissions that the programs of this commit need.
func TestTheBrokerHasTheUsersOfThePrograms(t *testing.T) {
	t.Parallel()
	want := goRun(t, "./services/standalone/cmd/rotaloom", "nats-permissions")
	have, err := os.ReadFile(filepath.Join(chartDir, "files", "nats-users.conf"))
	require.NoError(t, err)
	assert.Equal(t, want, string(have), "make kustomize writes it again")
}
