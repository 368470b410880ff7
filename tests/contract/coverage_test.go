package contract

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
)

// untimely lists the operations whose success no case can show, with the tests that do.
var untimely = map[string]string{
	"platform.v1.SandboxService.AdvanceSandboxClock":     "TestAYearPassesInASandbox: only the command line creates sandboxes",
	"platform.v1.SandboxService.GetSandboxClock":         "TestAYearPassesInASandbox, too",
	"scheduling.v1.PropagationService.PausePropagation":  "TestPausedBatchesWait: a propagation of a case is finished before it can be paused",
	"scheduling.v1.PropagationService.ResumePropagation": "TestPausedBatchesWait, too",
}

func TestEveryOperationHasCases(t *testing.T) {
	t.Parallel()
	all, err := Load(cases.FS)
	require.NoError(t, err)
	operations := Operations()
	require.NotEmpty(t, operations)
	called, succeeds, refused := map[*Route]bool{}, map[*Operation]bool{}, map[*Operation]bool{}
	for _, c := range all {
		for _, step := range c.Steps {
			if o, r := Called(operations, step); o != nil {
				called[r] = true
				succeeds[o] = succeeds[o] || step.Status < http.StatusBadRequest
				refused[o] = refused[o] || step.Status >= http.StatusBadRequest
			}
		}
	}
	for _, o := range operations {
		for _, r := range o.Routes {
			assert.True(t, called[r], "no case calls %s of %s", r, o.Name)
		}
		assert.True(t, succeeds[o] || untimely[strings.TrimPrefix(o.Name, "rotaloom.")] != "", "no case shows a success of %s", o.Name)
		assert.True(t, refused[o], "no case shows how %s refuses a request", o.Name)
	}
}

// setupServices are the services of objects that a client of the reference product sets up.
var setupServices = []string{
	"commons.v1.HolidayService",
	"timekeeping.v1.RequestSubtypeService", "scheduling.v1.ScheduleGroupService", "scheduling.v1.ScheduleRuleService",
	"scheduling.v1.ScheduleRuleSetService", "scheduling.v1.ScheduleRuleSetAssignmentService", "timekeeping.v1.ScheduleRuleEvaluationService",
	"scheduling.v1.TagDefinitionService",
	"timekeeping.v1.BrazilCompanyService", "timekeeping.v1.BrazilDeviceGroupService", "timekeeping.v1.BrazilDeviceService",
	"udm.v1.DeviceGroupService", "udm.v1.DeviceService",
	"timekeeping.v1.PayCodeService", "timekeeping.v1.WorkRuleService", "timekeeping.v1.PayRuleService",
	"timekeeping.v1.AccrualCodeService", "timekeeping.v1.AccrualProfileService",
	"timekeeping.v1.LeaveTypeService", "timekeeping.v1.LeaveRuleService", "timekeeping.v1.LeaveProfileService", "timekeeping.v1.LeaveCustomFieldService",
	"scheduling.v1.ShiftTemplateService", "scheduling.v1.SchedulePatternTemplateService",
	"platform.v1.TargetThresholdService", "platform.v1.WebhookService", "platform.v1.GenericNotificationService",
	"commons.v1.LocationTypeService",
}

// unknownIs400 lists the operations that return 400 for an unknown id by their contract.
var unknownIs400 = []string{
	"scheduling.v1.ScheduleRuleService.GetScheduleRule",
	"scheduling.v1.ScheduleRuleSetService.UpdateScheduleRuleSet", "scheduling.v1.ScheduleRuleSetService.DeleteScheduleRuleSet",
	"scheduling.v1.ScheduleRuleSetAssignmentService.UpdateScheduleRuleSetAssignments",
}

// hiddenVersions lists the services whose messages show no version, so that requests cannot state
// one either.
var hiddenVersions = []string{"scheduling.v1.SchedulePatternTemplateService", "commons.v1.LocationTypeService"}

// The cases show for every operation of setup that it succeeds, refuses callers without permission,
// and returns the contract's error for unknown ids. If it replaces or deletes objects with a
// version, they also show that it refuses a stale version and a stale entity tag.
func TestEverySetupOperationIsShown(t *testing.T) {
	t.Parallel()
	all, err := Load(cases.FS)
	require.NoError(t, err)
	operations := Operations()
	shown := map[*Operation]map[int]bool{}
	for _, o := range operations {
		shown[o] = map[int]bool{}
	}
	for _, c := range all {
		for _, step := range c.Steps {
			if o, _ := Called(operations, step); o != nil {
				shown[o][step.Status] = true
			}
		}
	}
	table := policy.NewTable(nil)
	looked := map[string]bool{}
	for _, o := range operations {
		name := strings.TrimPrefix(o.Name, "rotaloom.")
		service := name[:strings.LastIndex(name, ".")]
		if !slices.Contains(setupServices, service) {
			continue
		}
		looked[service] = true
		method, err := table.Method(o.Name)
		require.NoError(t, err)
		assert.True(t, shown[o][http.StatusOK] || shown[o][http.StatusNoContent], "no case shows a success of %s", name)
		wanted := []int{http.StatusForbidden}
		unknown := http.StatusNotFound
		if slices.Contains(unknownIs400, name) {
			unknown = http.StatusBadRequest
		}
		for _, route := range o.Routes {
			if slices.Contains(route.segments, "") {
				wanted = append(wanted, unknown)
			}
			if method.Versioned && (route.method == http.MethodPut || route.method == http.MethodDelete) {
				wanted = append(wanted, http.StatusPreconditionFailed)
				if !slices.Contains(hiddenVersions, service) {
					wanted = append(wanted, http.StatusConflict)
				}
			}
		}
		for _, status := range wanted {
			assert.True(t, shown[o][status], "no case shows %d of %s", status, name)
		}
	}
	assert.Len(t, looked, len(setupServices))
}
