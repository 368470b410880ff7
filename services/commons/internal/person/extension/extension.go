// Package extension renders the extensions of a person: views of a person on a day, for other
// parts of the product.
package extension

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// CodeExtension (400): the extension does not exist. Send one of the names in the message.
const CodeExtension = "WCO-101201"

// kinds are the names of the extensions.
var kinds = []string{"accrual", "device", "employee", "scheduling", "timekeeping"}

// view is a person on a snapshot date, with the data of other persons that an extension
// shows.
type view struct {
	*store.Person
	day civil.Date
	// wages reports whether the view shows wages.
	wages bool
	// manager is the person's manager, or nil if no person has the manager's number.
	manager *reader.Base
	// currency applies to persons without a currency.
	currency string
}

// Extensions reads extensions of persons.
type Extensions struct {
	Reader *reader.Reader
	// DefaultCurrency is the ISO 4217 code for persons without a currency.
	DefaultCurrency string
}

// MultiRead returns one extension of each person, or all of them, in the order of the
// request. Unknown persons fail separately.
func (e Extensions) MultiRead(ctx context.Context, req *commonsv1.MultiReadPersonExtensionsRequest) (*commonsv1.PersonExtensionList, error) {
	where := req.GetWhere()
	kind, err := readExtension("where.extensionType", where.GetExtensionType())
	if err != nil {
		return nil, err
	}
	var views []*view
	out := &bulk.Outcome[*commonsv1.PersonIdentity, *commonsv1.PersonExtension]{}
	err = e.Reader.ForEach(ctx, where, func(day civil.Date, k store.Key, p *store.Person) {
		if p == nil {
			out.Fail(k.Identity(), k.NotFound())
			return
		}
		views = append(views, e.newView(p, day, where.IncludeBaseWages == nil || where.GetIncludeBaseWages()))
		out.Succeed(nil, &commonsv1.PersonExtension{})
	})
	if err != nil {
		return nil, err
	}
	if err := e.findManagers(ctx, views); err != nil {
		return nil, err
	}
	for i, made := range out.Successes() {
		views[i].extend(made, kind)
	}
	done, failure, err := rpc.BulkResultWithCode(ctx, out, fault.CodeBulkFailed) // Operations on persons use this code.
	return &commonsv1.PersonExtensionList{Extensions: done, Failure: failure}, err
}

// extend fills in the extension of a kind, or all of them.
func (v *view) extend(out *commonsv1.PersonExtension, kind string) {
	switch kind {
	case "employee":
		out.EmployeeExtension = v.employee()
	case "timekeeping":
		out.TimekeepingExtension = v.timekeeping()
	case "scheduling":
		out.SchedulingExtension = v.scheduling()
	case "accrual":
		out.AccrualExtension = v.accrual()
	case "device":
		out.DeviceExtension = v.device()
	default:
		out.AllExtension = &commonsv1.AllExtension{
			PersonId: v.ID, PersonNumber: v.Number(), SnapShotDate: v.day.String(),
			EmployeeExtension: v.employee(), TimekeepingExtension: v.timekeeping(), SchedulingExtension: v.scheduling(),
			AccrualExtension: v.accrual(), DeviceExtension: v.device(),
		}
	}
}

func (v *view) active() *bool {
	is := v.ActiveOn(v.day)
	return &is
}

func (v *view) badges() []*commonsv1.ExtensionBadge {
	return mapList(v.Message.GetPersonInformation().GetBadgeAssignments(), func(b *commonsv1.BadgeAssignment) *commonsv1.ExtensionBadge {
		return &commonsv1.ExtensionBadge{BadgeNumber: b.GetBadgeNumber(), EffectiveDate: b.GetEffectiveDate(), ExpirationDate: b.GetExpirationDate()}
	})
}

// mapList applies fn to the elements of a list and returns the results.
func mapList[A, B any](list []A, fn func(A) B) []B {
	var out []B
	for _, a := range list {
		out = append(out, fn(a))
	}
	return out
}

// onDay returns the elements of a list that apply on a day.
func onDay[M record.Dated](list []M, day civil.Date) []M {
	var out []M
	for _, m := range list {
		if record.CheckedRange(record.EffectiveDates(m)).Contains(day) {
			out = append(out, m)
		}
	}
	return out
}

// findManagers finds the managers of persons by their numbers.
func (e Extensions) findManagers(ctx context.Context, views []*view) error {
	var keys []store.Key
	for _, v := range views {
		if number := record.JobDetailsOrEmpty(v.Record).GetSupervisorPersonNumber(); number != "" {
			keys = append(keys, store.Key{Number: number})
		}
	}
	if len(keys) == 0 {
		return nil
	}
	found, err := e.Reader.Bases(ctx, keys, e.Reader.Today(ctx))
	if err != nil {
		return err
	}
	for _, v := range views {
		if b, ok := found[store.Key{Number: record.JobDetailsOrEmpty(v.Record).GetSupervisorPersonNumber()}]; ok {
			v.manager = &b
		}
	}
	return nil
}
