package operation

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Every operation that reads setup returns the same after a restart, with the same entity tag and
// language. The contract cases create the objects, up to the steps that delete any.
func TestSetupSurvivesARestart(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	target := server.Target(t)
	operations := contract.Operations()
	setup := readsOfSetup(operations)

	var asked []contract.RecordedStep
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	for _, c := range all {
		if !slices.ContainsFunc(c.Steps, func(s contract.Step) bool { return setup[operationName(operations, s)] }) {
			continue
		}
		recorded, err := contract.Record(t.Context(), target, c, deletes)
		require.NoError(t, err, c.Path)
		for _, step := range recorded {
			// These steps use a token that may have expired.
			own := step.Step.Anonymous || step.Step.Header["Authorization"] != ""
			if setup[operationName(operations, step.Step)] && step.Step.Status == http.StatusOK && !own && complete(step) {
				asked = append(asked, step)
			}
		}
	}
	before := sendAll(t, target, asked)
	stop(t, server)
	server = launch.StandaloneIn(t, server.StateDir, nil)
	after := sendAll(t, server.Target(t), asked)

	compared := map[string]bool{}
	for i, step := range asked {
		what := step.Case + ": " + step.Step.It + ": " + step.Step.Do
		require.Equal(t, before[i].Status, after[i].Status, what)
		assert.JSONEq(t, withoutRequestID(before[i]), withoutRequestID(after[i]), what)
		for _, header := range []string{"ETag", "Content-Language", "Vary"} {
			assert.Equal(t, before[i].Header.Values(header), after[i].Header.Values(header), "%s: %s", what, header)
		}
		if before[i].Status == http.StatusOK {
			compared[operationName(operations, step.Step)] = true
		}
	}
	for name := range setup {
		assert.True(t, compared[name], "%s: no case reads its objects before it deletes any", name)
	}
	t.Logf("%d reads by %d operations", len(asked), len(compared))
}

// withoutRequestID returns the body of a response without the id of its request, which errors have.
func withoutRequestID(r contract.Response) string {
	return strings.ReplaceAll(string(r.Body), r.Header.Get("X-Request-Id"), "")
}

// dated lists the services whose objects have a version, but belong to days and persons.
var dated = []string{
	"rotaloom.scheduling.v1.ShiftService", "rotaloom.scheduling.v1.PayCodeEditService", "rotaloom.scheduling.v1.ScheduleTagService",
	"rotaloom.timekeeping.v1.LeaveNoteService",
}

// showsVersion reports whether a message shows the version of its object.
func showsVersion(d protoreflect.MessageDescriptor) bool {
	if policy.VersionField(d) != nil {
		return true
	}
	for i := range d.Fields().Len() {
		if policy.WrappedVersion(d, d.Fields().Get(i).Number()) != nil {
			return true
		}
	}
	return false
}

// readsOfSetup returns the read operations of each service whose objects have a version and are
// replaced, and of the services with the limits of schedules.
func readsOfSetup(operations []*contract.Operation) map[string]bool {
	table := policy.NewTable(nil)
	services := map[string]bool{
		"rotaloom.scheduling.v1.ScheduleRuleService": true, "rotaloom.timekeeping.v1.ScheduleRuleEvaluationService": true,
	}
	for _, o := range operations {
		if m, err := table.Method(o.Name); err == nil && m.Versioned && showsVersion(m.Output) && !slices.Contains(dated, serviceName(o.Name)) {
			services[serviceName(o.Name)] = true
		}
	}
	out := map[string]bool{}
	for _, o := range operations {
		method := strings.TrimPrefix(o.Name, serviceName(o.Name)+".")
		reads := slices.ContainsFunc([]string{"Get", "List", "Find", "MultiRead", "Evaluate"}, func(verb string) bool {
			return strings.HasPrefix(method, verb)
		})
		if reads && services[serviceName(o.Name)] {
			out[o.Name] = true
		}
	}
	return out
}

func serviceName(operation string) string { return operation[:strings.LastIndex(operation, ".")] }

// operationName returns the operation that a step calls, or "".
func operationName(operations []*contract.Operation, step contract.Step) string {
	if o, _ := contract.Called(operations, step); o != nil {
		return o.Name
	}
	return ""
}

func deletes(step contract.Step) bool {
	return step.Status < 300 && (strings.HasPrefix(step.Do, "DELETE ") || strings.Contains(step.Do, "delete"))
}

// complete reports whether all values that a step names are known.
func complete(step contract.RecordedStep) bool {
	return !slices.ContainsFunc(contract.Names(step.Text()), func(name string) bool {
		_, known := step.Values[name]
		return !known
	})
}

func sendAll(t *testing.T, target contract.Target, asked []contract.RecordedStep) []contract.Response {
	t.Helper()
	out := make([]contract.Response, len(asked))
	for i, step := range asked {
		response, err := contract.Send(t.Context(), target, "", step)
		require.NoError(t, err, step.Step.Do)
		out[i] = response
	}
	return out
}

// Settings that were in use before a restart are in use after it.
func TestSettingsInUseSurviveARestart(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	api := scenario.API{Target: server.Target(t)}
	const devices, groups = "/v1/timekeeping/brazil_compliance/devices", "/v1/timekeeping/brazil_compliance/device_groups"
	_, err := api.Call(t.Context(), "POST", devices, scenario.Object{"name": "Gate", "type": "REP-C", "serialNumber": "7"}, nil)
	require.NoError(t, err)
	_, err = api.Call(t.Context(), "POST", groups, scenario.Object{"name": "Campinas", "devices": []scenario.Object{{"qualifier": "Gate"}}}, nil)
	require.NoError(t, err)

	stop(t, server)
	server = launch.StandaloneIn(t, server.StateDir, nil)
	api = scenario.API{Target: server.Target(t)}

	_, err = api.Call(t.Context(), "POST", groups, scenario.Object{"name": "Santos", "devices": []scenario.Object{{"qualifier": "Gate"}}}, nil)
	require.ErrorContains(t, err, "WTK-181613")
}
