package deploy

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "Write the base and the broker's users again.")

const base = "../kustomize/base/rotaloom.yaml"

// renderBase renders the base of kustomize: the chart without its hooks, which kustomize does not
// have.
func renderBase(t *testing.T) string {
	t.Helper()
	chart, err := loader.LoadDir(chartDir)
	require.NoError(t, err)
	text, err := os.ReadFile("../kustomize/values.yaml")
	require.NoError(t, err)
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal(text, &values))
	install := action.NewInstall(&action.Configuration{})
	install.DryRun, install.ClientOnly, install.Replace, install.ReleaseName = true, true, true, release
	install.KubeVersion = &chartutil.KubeVersion{Version: kubeVersion, Major: "1", Minor: "34"}
	rendered, err := install.Run(chart, values)
	require.NoError(t, err)
	return "# Rendered from deploy/helm/rotaloom by `make kustomize`. Change it there.\n" + rendered.Manifest
}

// The base equals the rendered chart, so that there is one source.
func TestTheBaseIsTheChart(t *testing.T) {
	t.Parallel()
	if *update { // The chart contains the users, so update them first.
		users := goRun(t, "./services/standalone/cmd/rotaloom", "nats-permissions")
		require.NoError(t, os.WriteFile(filepath.Join(chartDir, "files", "nats-users.conf"), []byte(users), 0o600))
	}
	want := renderBase(t)
	if *update {
		require.NoError(t, os.WriteFile(base, []byte(want), 0o600))
	}
	have, err := os.ReadFile(base)
	require.NoError(t, err)
	assert.Equal(t, want, string(have), "make kustomize writes it again")
}

func TestOverlays(t *testing.T) {
	t.Parallel()
	for overlay, replicas := range map[string]int32{"trial": 1, "production": 3} {
		t.Run(overlay, func(t *testing.T) {
			t.Parallel()
			built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join("../kustomize/overlays", overlay))
			require.NoError(t, err)
			text, err := built.AsYaml()
			require.NoError(t, err)
			objects := decode(t, text)
			deployments := selectKind[appsv1.Deployment](objects)
			assert.Equal(t, replicas, *deployments[release+"-scheduling"].Spec.Replicas)
			for name, deployment := range deployments {
				assert.Equal(t, release, deployment.Namespace, name)
			}
			scaled := len(selectKind[autoscalingv2.HorizontalPodAutoscaler](objects)) > 0
			assert.Equal(t, scaled, deployments[release+"-gateway"].Spec.Replicas == nil, "either the autoscaler or the overlay says how many edges there are")
		})
	}
}
