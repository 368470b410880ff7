package architecture

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/rotaloom/rotaloom/proto/contracts"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// order lists the services from the lowest to the highest (docs/architecture.md), and the programs
// that call them.
var order = []string{"auth", "commons", "scheduling", "timekeeping", "recruiting", "platform", "gateway", "standalone"}

// owners maps contracts that are not named after a service, and programs, to their services.
var owners = map[string]string{"audit": "auth", "data": "commons", "propagator": "scheduling", "udm": "timekeeping"}

// downwards lists the events against the order, with the data that their consumer keeps.
var downwards = map[string]string{
	"rotaloom.scheduling.v1.EmploymentTermChanged":   "hyperfinds of commons ask for terms",
	"rotaloom.scheduling.v1.LeaveTaken":              "hyperfinds of commons ask for who is scheduled",
	"rotaloom.scheduling.v1.MembershipsChanged":      "hyperfinds of commons ask for who is on a term",
	"rotaloom.scheduling.v1.PatternStored":           "hyperfinds of commons ask for who is scheduled",
	"rotaloom.scheduling.v1.ShiftsEntered":           "hyperfinds of commons ask for who is scheduled",
	"rotaloom.scheduling.v1.SpansChanged":            "hyperfinds of commons ask for who is scheduled",
	"rotaloom.timekeeping.v1.PayCodeChanged":         "schedules show the present names of pay codes",
	"rotaloom.timekeeping.v1.TimecardSignoffChanged": "wages of commons do not change on signed-off days",
	"rotaloom.timekeeping.v1.WorkRuleChanged":        "schedules show the present names of work rules",
	"rotaloom.udm.v1.DeviceGroupChanged":             "persons of commons name their device group",
}

// Services call only lower services, and consume events only of lower services.
func TestServicesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	var against []string
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		owner, ours := strings.CutPrefix(string(file.Package()), "rotaloom.")
		if !ours {
			return true
		}
		owner, _, _ = strings.Cut(owner, ".")
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				policy, _ := proto.GetExtension(methods.Get(j).Options(), optionsv1.E_Method).(*optionsv1.Method)
				for _, caller := range policy.GetCallers() {
					assert.Greater(t, rank(t, caller), rank(t, owner), "%s is called from below", methods.Get(j).FullName())
				}
			}
		}
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			event, _ := proto.GetExtension(message.Options(), optionsv1.E_Event).(*optionsv1.Event)
			for _, consumer := range event.GetConsumers() {
				if rank(t, consumer) < rank(t, owner) {
					against = append(against, string(message.FullName()))
				}
			}
		}
		return true
	})
	for _, name := range against {
		assert.NotEmpty(t, downwards[name], "%s goes against the order of the services", name)
	}
	for name := range downwards {
		assert.Contains(t, against, name, "%s keeps the order: leave it out here", name)
	}
}

// rank returns the position of a service in the order.
func rank(t *testing.T, service string) int {
	t.Helper()
	if owner, ok := owners[service]; ok {
		service = owner
	}
	at := slices.Index(order, service)
	assert.GreaterOrEqual(t, at, 0, "%s is new: say here where it stands", service)
	return at
}
