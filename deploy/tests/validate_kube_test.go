//go:build kube

package deploy

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// cloudNativePG is the group of the one operator whose kinds may be absent, because no package
// registry has them. tools/kubernetes/crds.sh says how to provide them.
const cloudNativePG = "postgresql.cnpg.io"

// TestServer applies the deployment's manifests to a real API server, which checks more than types:
// defaults, rules across fields, and admission.
func TestServer(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	c.addNamespace(t, namespace)
	c.addNamespace(t, release)
	t.Run("refuses wrong manifests", c.refuses)
	for name, values := range variants {
		t.Run("takes the chart "+name, func(t *testing.T) { c.takes(t, render(t, values)) })
	}
	for _, overlay := range []string{"trial", "production"} {
		t.Run("takes the overlay "+overlay, func(t *testing.T) {
			built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join("../kustomize/overlays", overlay))
			require.NoError(t, err)
			text, err := built.AsYaml()
			require.NoError(t, err)
			c.takes(t, text)
		})
	}
	t.Run("keeps a release through an upgrade and a rollback", c.keepsARelease)
}

// takes applies manifests in a dry run, and the pods that they would lead to.
func (c *cluster) takes(t *testing.T, manifests []byte) {
	taken := 0
	for reader := utilyaml.NewYAMLReader(newReader(manifests)); ; {
		manifest, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		var head metav1.PartialObjectMetadata
		require.NoError(t, yaml.Unmarshal(manifest, &head))
		if head.Kind == "" {
			continue // only comments
		}
		what := head.Kind + " " + head.Name
		err = c.dryRun(t.Context(), namespace, manifest)
		if meta.IsNoMatchError(err) && strings.HasPrefix(head.APIVersion, cloudNativePG+"/") {
			t.Logf("%s is not checked: ROTALOOM_KUBERNETES_CRDS names no folder with its kind", what)
			continue
		}
		require.NoError(t, err, what)
		assert.Empty(t, c.takeWarnings(), what)
		taken++
	}
	require.NotZero(t, taken)
	objects := decode(t, manifests)
	templates := pods(objects)
	for name, set := range selectKind[appsv1.StatefulSet](objects) {
		// Add the volumes that a controller would add.
		template := templates["StatefulSet "+name]
		for _, claim := range set.Spec.VolumeClaimTemplates {
			template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-" + name + "-0"},
			}})
		}
		templates["StatefulSet "+name] = template
	}
	for name, template := range templates {
		_, err := c.typed.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "trial-", Labels: template.Labels, Annotations: template.Annotations}, Spec: template.Spec,
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict})
		require.NoError(t, err, name)
		assert.Empty(t, c.takeWarnings(), name)
	}
}

// refuses applies wrong manifests, to prove that the other cases can fail.
func (c *cluster) refuses(t *testing.T) {
	const metadata = "metadata: {name: wrong}\n"
	for name, wrong := range map[string]struct{ manifest, says string }{
		"an unknown field":        {"apiVersion: v1\nkind: Service\n" + metadata + "spec: {prots: [{port: 1}]}", ".spec.prots"},
		"a field that is twice":   {"apiVersion: v1\nkind: ConfigMap\n" + metadata + "data: {a: b}\ndata: {a: c}", `"data" already set`},
		"a port that is none":     {"apiVersion: v1\nkind: Service\n" + metadata + "spec: {ports: [{port: 70000}]}", "must be between 1 and 65535"},
		"a budget of two kinds":   {"apiVersion: policy/v1\nkind: PodDisruptionBudget\n" + metadata + "spec: {minAvailable: 1, maxUnavailable: 1}", "cannot be both set"},
		"an issuer's wrong field": {"apiVersion: cert-manager.io/v1\nkind: Issuer\n" + metadata + "spec: {selfsigned: {}}", ".spec.selfsigned"},
		"a target of nothing":     {"apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\n" + metadata + "spec: {triggers: []}", "spec.scaleTargetRef"},
		"a route without rules":   {"apiVersion: gateway.networking.k8s.io/v1\nkind: TLSRoute\n" + metadata + "spec: {hostnames: [a.example]}", "spec.rules"},
		"a monitor of no pods":    {"apiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\n" + metadata + "spec: {}", "spec.selector"},
		"a pod that may become root": {"apiVersion: v1\nkind: Pod\n" + metadata + "spec: {containers: [{name: a, image: a}]}",
			`violates PodSecurity "restricted:latest"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, c.dryRun(t.Context(), namespace, []byte(wrong.manifest)), wrong.says)
		})
	}
}

// keepsARelease installs, upgrades and rolls back as Helm does. Passwords and certificates that the
// chart has created must stay.
func (c *cluster) keepsARelease(t *testing.T) {
	chart, err := loader.LoadDir(chartDir)
	require.NoError(t, err)
	flags := genericclioptions.NewConfigFlags(false)
	flags.APIServer, flags.BearerToken, flags.CAFile = &c.config.Host, &c.config.BearerToken, &c.config.CAFile
	space := namespace
	flags.Namespace = &space
	var helm action.Configuration
	require.NoError(t, helm.Init(flags, namespace, "secret", func(string, ...any) {}))

	install := action.NewInstall(&helm)
	install.ReleaseName, install.Namespace, install.Timeout = release, namespace, startTimeout
	_, err = install.RunWithContext(t.Context(), chart, map[string]any{})
	require.NoError(t, err)
	made := c.secrets(t)
	require.Contains(t, made, release+"-authority")

	upgrade := action.NewUpgrade(&helm)
	// No kubelet could run the jobs.
	upgrade.Namespace, upgrade.DisableHooks, upgrade.Timeout = namespace, true, startTimeout
	_, err = upgrade.RunWithContext(t.Context(), release, chart, map[string]any{"scheduling": map[string]any{"replicas": 5}})
	require.NoError(t, err)
	assert.EqualValues(t, 5, c.replicas(t, release+"-scheduling"))
	assert.Equal(t, made, c.secrets(t))

	rollback := action.NewRollback(&helm)
	rollback.Version, rollback.DisableHooks, rollback.Timeout = 1, true, startTimeout
	require.NoError(t, rollback.Run(release))
	assert.EqualValues(t, 2, c.replicas(t, release+"-scheduling"))
	assert.Equal(t, made, c.secrets(t))
}

// secrets returns the data of the release's Secrets, without Helm's own.
func (c *cluster) secrets(t *testing.T) map[string]map[string]string {
	t.Helper()
	list, err := c.typed.CoreV1().Secrets(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "owner!=helm"})
	require.NoError(t, err)
	data := map[string]map[string]string{}
	for _, secret := range list.Items {
		data[secret.Name] = map[string]string{}
		for key, value := range secret.Data {
			data[secret.Name][key] = string(value)
		}
	}
	return data
}

func (c *cluster) replicas(t *testing.T, deployment string) int32 {
	t.Helper()
	found, err := c.typed.AppsV1().Deployments(namespace).Get(t.Context(), deployment, metav1.GetOptions{})
	require.NoError(t, err)
	return *found.Spec.Replicas
}
