package deploy

import (
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// compose.yaml is valid, and its programs have the same callers as in the chart.
func TestCompose(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{"../compose.yaml"}, cli.WithEnv([]string{"ROTALOOM_UID=1000", "ROTALOOM_GID=1000"}))
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	for _, program := range programs {
		service, ok := project.Services[program]
		require.True(t, ok, program)
		assert.True(t, service.ReadOnly, program)
		assert.Equal(t, []string{"ALL"}, service.CapDrop, program)
		known := settings(t, program)
		for variable := range service.Environment {
			assert.True(t, slices.Contains(known, variable) || slices.Contains(known, strings.TrimSuffix(variable, "_FILE")), "%s has no %s", program, variable)
		}
	}
	for program, want := range map[string]string{
		"auth": "gateway,commons,timekeeping,scheduling,recruiting,platform", "commons": "gateway,timekeeping,scheduling,recruiting,platform",
		"timekeeping": "gateway,platform", "scheduling": "gateway,timekeeping,platform",
		"recruiting": "gateway,platform", "platform": "gateway",
	} {
		t.Run(program, func(t *testing.T) {
			require.NotNil(t, project.Services[program].Environment["ROTALOOM_RPC_CLIENTS"], program)
			assert.Equal(t, want, *project.Services[program].Environment["ROTALOOM_RPC_CLIENTS"], program)
		})
	}
	for name, service := range project.Services {
		for _, port := range service.Ports {
			assert.Equal(t, "gateway", name, "only the edge is reached from outside")
			assert.Equal(t, "127.0.0.1", port.HostIP)
		}
	}
}
