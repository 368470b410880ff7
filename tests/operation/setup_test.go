package operation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// What was set up is there after a restart, with its versions, and what it refers
// to is still referred to.
func TestSetupSurvivesARestart(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	api := scenario.API{Target: server.Target(t)}
	call := func(method, path string, body, response any) {
		t.Helper()
		_, err := api.Call(t.Context(), method, path, body, response)
		require.NoError(t, err)
	}
	var holidays []scenario.Object
	call("POST", "/v1/commons/setup/holidays/multi_upsert", []scenario.Object{{
		"name": "Founders", "rule": scenario.Object{"easter": scenario.Object{"offsetDays": 39}},
		"dates": []scenario.Object{{"year": 2031, "enabled": true}},
	}}, &holidays)
	var payCode, rule, device, group scenario.Object
	call("POST", "/v1/timekeeping/setup/pay_codes", scenario.Object{"name": "Sick"}, &payCode)
	call("POST", "/v1/timekeeping/setup/work_rules", scenario.Object{"name": "Day", "defaultPayCode": scenario.Object{"qualifier": "Sick"}}, &rule)
	const devices, groups = "/v1/timekeeping/brazil_compliance/devices", "/v1/timekeeping/brazil_compliance/device_groups"
	call("POST", devices, scenario.Object{"name": "Gate", "type": "REP-C", "serialNumber": "7"}, &device)
	call("POST", groups, scenario.Object{"name": "Campinas", "devices": []scenario.Object{{"qualifier": "Gate"}}}, &group)

	stop(t, server)
	server = launch.StandaloneIn(t, server.StateDir, nil)
	api = scenario.API{Target: server.Target(t)}

	for path, before := range map[string][]scenario.Object{
		"/v1/commons/setup/holidays?year=2031&enabled=true": holidays,
		"/v2/timekeeping/setup/pay_codes":                   {payCode},
		"/v2/timekeeping/setup/work_rules":                  {rule},
		groups:                                              {group},
	} {
		t.Run(path, func(t *testing.T) {
			var after []scenario.Object
			call("GET", path, nil, &after)
			require.Equal(t, before, after)
		})
	}
	_, err := api.Call(t.Context(), "POST", groups, scenario.Object{"name": "Santos", "devices": []scenario.Object{{"qualifier": "Gate"}}}, nil)
	require.ErrorContains(t, err, "WTK-181613")
}
