package deploy

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

const component = "app.kubernetes.io/component"

var (
	programs = []string{"auth", "commons", "timekeeping", "scheduling", "recruiting", "platform", "propagator", "gateway"}
	target   = regexp.MustCompile(`^ROTALOOM_([A-Z]+)_TARGET$`)
)

func newReader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }

// goRun runs a program of the repository, and returns its output.
func goRun(t *testing.T, args ...string) string {
	t.Helper()
	run := exec.CommandContext(t.Context(), "go", append([]string{"run"}, args...)...)
	run.Dir, run.Env = "../..", append(os.Environ(), "GOWORK=")
	out, err := run.Output()
	require.NoError(t, err)
	return string(out)
}

// pods returns the templates of pods, by the names of their owners.
func pods(objects []runtime.Object) map[string]corev1.PodTemplateSpec {
	found := map[string]corev1.PodTemplateSpec{}
	for name, d := range selectKind[appsv1.Deployment](objects) {
		found["Deployment "+name] = d.Spec.Template
	}
	for name, s := range selectKind[appsv1.StatefulSet](objects) {
		found["StatefulSet "+name] = s.Spec.Template
	}
	for name, j := range selectKind[batchv1.Job](objects) {
		found["Job "+name] = j.Spec.Template
	}
	return found
}

func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	forEachVariant(t, func(t *testing.T, objects []runtime.Object) {
		for name, pod := range pods(objects) {
			for _, result := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec) {
				assert.True(t, result.Allowed, "%s: %s %s", name, result.ForbiddenReason, result.ForbiddenDetail)
			}
			assert.False(t, *pod.Spec.AutomountServiceAccountToken, name)
			for _, c := range pod.Spec.Containers {
				assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, name)
				assert.NotEmpty(t, c.Resources.Limits.Memory().String(), name)
				assert.NotEmpty(t, c.Resources.Requests, name)
			}
		}
	})
}

// settings returns the variables of a program in docs/configuration.md.
func settings(t *testing.T, program string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	_, part, ok := strings.Cut(string(page), "\n## "+program+"\n")
	require.True(t, ok, program)
	part, _, _ = strings.Cut(part, "\n## ")
	return regexp.MustCompile(`ROTALOOM_[A-Z0-9_]+`).FindAllString(part, -1)
}

// Only the job that creates the first administrator has the password, so an attacker who takes over
// a serving program does not get it.
func TestOnlyTheBootstrapJobMountsTheAdministrator(t *testing.T) {
	t.Parallel()
	forEachVariant(t, func(t *testing.T, objects []runtime.Object) {
		var mounting []string
		for name, pod := range pods(objects) {
			if slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "administrator" }) {
				mounting = append(mounting, name)
				known := settings(t, "auth")
				for _, variable := range pod.Spec.Containers[0].Env {
					if strings.HasPrefix(variable.Name, "ROTALOOM_") {
						assert.Contains(t, known, strings.TrimSuffix(variable.Name, "_FILE"))
					}
				}
			}
			for _, variable := range pod.Spec.Containers[0].Env {
				if strings.HasPrefix(variable.Name, "ROTALOOM_BOOTSTRAP_") {
					assert.Contains(t, name, "auth-bootstrap", variable.Name)
				}
			}
		}
		require.Len(t, mounting, 1)
		assert.Contains(t, mounting[0], "Job "+release+"-auth-bootstrap-")
		database := selectKind[networkingv1.NetworkPolicy](objects)[release+"-database"]
		if database != nil {
			assert.True(t, admits(database, "auth-bootstrap"), "the job reaches the database")
		}
	})
}

func TestVariablesAreSettingsOfTheirPrograms(t *testing.T) {
	t.Parallel()
	forEachVariant(t, func(t *testing.T, objects []runtime.Object) {
		deployments := selectKind[appsv1.Deployment](objects)
		for _, program := range programs {
			known := settings(t, program)
			deployment := deployments[release+"-"+program]
			require.NotNil(t, deployment, program)
			seen := map[string]bool{}
			for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
				assert.False(t, seen[variable.Name], "%s has %s twice", program, variable.Name)
				seen[variable.Name] = true
				if !strings.HasPrefix(variable.Name, "ROTALOOM_") || slices.Contains(known, variable.Name) {
					continue
				}
				assert.Contains(t, known, strings.TrimSuffix(variable.Name, "_FILE"), "%s has no such setting", program)
			}
		}
	})
}

// The calls between programs are defined once, and the targets, access lists, certificates and
// policies follow from them.
func TestPoliciesFollowTheCalls(t *testing.T) {
	t.Parallel()
	objects := decode(t, render(t, variants["as it is"]))
	deployments, policies := selectKind[appsv1.Deployment](objects), selectKind[networkingv1.NetworkPolicy](objects)
	for _, caller := range programs {
		calls := map[string]bool{}
		for _, variable := range deployments[release+"-"+caller].Spec.Template.Spec.Containers[0].Env {
			if found := target.FindStringSubmatch(variable.Name); found != nil {
				calls[strings.ToLower(found[1])] = true
			}
		}
		for _, callee := range programs {
			if callee == "gateway" {
				continue // Its clients are outside.
			}
			from, to := admits(policies[release+"-"+callee], caller), reaches(policies[release+"-"+caller], callee)
			assert.Equal(t, calls[callee], from, "%s lets %s in", callee, caller)
			assert.Equal(t, calls[callee], to, "%s may reach %s", caller, callee)
			if calls[callee] {
				assert.Contains(t, findVariable(deployments[release+"-"+callee], "ROTALOOM_RPC_CLIENTS"), fmt.Sprintf("%s-%s", release, caller))
			}
		}
	}
}

func admits(policy *networkingv1.NetworkPolicy, caller string) bool {
	return slices.ContainsFunc(policy.Spec.Ingress, func(rule networkingv1.NetworkPolicyIngressRule) bool {
		return len(rule.From) == 0 || anySelects(rule.From, caller)
	})
}

func reaches(policy *networkingv1.NetworkPolicy, callee string) bool {
	return slices.ContainsFunc(policy.Spec.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
		return anySelects(rule.To, callee)
	})
}

func anySelects(peers []networkingv1.NetworkPolicyPeer, program string) bool {
	return slices.ContainsFunc(peers, func(peer networkingv1.NetworkPolicyPeer) bool {
		return peer.PodSelector != nil && slices.ContainsFunc(peer.PodSelector.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool {
			return e.Key == component && slices.Contains(e.Values, program)
		})
	})
}

func findVariable(deployment *appsv1.Deployment, variable string) string {
	for _, v := range deployment.Spec.Template.Spec.Containers[0].Env {
		if v.Name == variable {
			return v.Value
		}
	}
	return ""
}

// A release that creates its Secrets creates every Secret that its pods mount, with the keys that
// they need.
func TestMountedSecretsExist(t *testing.T) {
	t.Parallel()
	objects := decode(t, render(t, variants["as it is"]))
	secrets := selectKind[corev1.Secret](objects)
	for name, pod := range pods(objects) {
		for _, volume := range pod.Spec.Volumes {
			wanted := map[string][]corev1.KeyToPath{}
			if volume.Secret != nil {
				wanted[volume.Secret.SecretName] = volume.Secret.Items
			}
			if volume.Projected != nil {
				for _, source := range volume.Projected.Sources {
					wanted[source.Secret.Name] = append(wanted[source.Secret.Name], source.Secret.Items...)
				}
			}
			for secret, items := range wanted {
				made := secrets[secret]
				if !assert.NotNil(t, made, "%s mounts %s", name, secret) {
					continue
				}
				for _, item := range items {
					_, text := made.StringData[item.Key]
					assert.True(t, text || made.Data[item.Key] != nil, "%s wants %s of %s", name, item.Key, secret)
				}
			}
		}
	}
}

// Callers connect to the name of the Service, and services identify callers by the same name.
func TestCertificatesHaveTheNamesOfServices(t *testing.T) {
	t.Parallel()
	objects := decode(t, render(t, variants["as it is"]))
	secrets, services := selectKind[corev1.Secret](objects), selectKind[corev1.Service](objects)
	for _, program := range programs {
		if program == "propagator" {
			continue // It has no callers.
		}
		name := release + "-" + program
		assert.Contains(t, services, name)
		certificate := parse(t, secrets[name+"-tls"].Data["tls.crt"])
		require.NoError(t, certificate.VerifyHostname(name))
		authority := parse(t, secrets[name+"-tls"].Data["ca.crt"])
		require.NoError(t, certificate.CheckSignatureFrom(authority))
	}
	require.NoError(t, parse(t, secrets[release+"-https"].Data["tls.crt"]).VerifyHostname("rotaloom.local"))
}

func parse(t *testing.T, text []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(text)
	require.NotNil(t, block)
	certificate, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return certificate
}
