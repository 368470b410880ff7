// Package wageworkrule serves WageWorkRuleService: wages and work rules of a person
// by job.
package wageworkrule

import (
	"cmp"
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/writer"
)

// maxRules limits the rules of a response. A person's few hundred rules can become many
// thousands, because the response repeats them for each range of days.
const maxRules = 100_000

// Handler serves WageWorkRuleService.
type Handler struct {
	commonsv1.UnsafeWageWorkRuleServiceServer
	pool   *pg.Pool
	reader *reader.Reader
	writer *writer.Writer
}

// New returns a Handler.
func New(pool *pg.Pool, reader *reader.Reader, writer *writer.Writer) *Handler {
	return &Handler{pool: pool, reader: reader, writer: writer}
}

// MultiReadWageWorkRules returns the rules of persons in the order of the request. Unknown
// persons fail separately.
func (w *Handler) MultiReadWageWorkRules(ctx context.Context, req *commonsv1.MultiReadWageWorkRulesRequest) (*commonsv1.PersonWageWorkRulesList, error) {
	where := req.GetWhere()
	if where == nil {
		where = &commonsv1.WageWorkRuleWhere{}
	}
	days, err := parseDayRange(where.GetStartDate(), where.GetEndDate())
	if err != nil {
		return nil, err
	}
	shown, err := newSelection(req, where, days)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]{}
	var persons []*commonsv1.PersonWageWorkRules
	err = w.reader.ForEach(ctx, &commonsv1.PersonWhere{
		Employees: where.GetEmployees(), SnapshotDate: where.GetSnapshotDate(),
		OnlyActivePerson: where.OnlyActivePerson, HyperFindFilter: where.GetHyperFindFilter(),
	}, func(_ civil.Date, k store.Key, p *store.Person) {
		if p == nil {
			out.Fail(&commonsv1.PersonWageWorkRules{Employee: &commonv1.Ref{Id: k.Identity().PersonKey, Qualifier: k.Identity().PersonNumber}}, k.NotFound())
			return
		}
		found := shown.person(p.ID, p.Record)
		persons = append(persons, found)
		out.Succeed(nil, found)
	})
	if err != nil {
		return nil, err
	}
	if shown.remaining < 0 {
		return nil, fault.TooLarge(fault.CodeTooLarge, fmt.Sprintf("The response would have more than %d wage and work rules. "+
			"Ask for fewer persons or days, or for pages of the rules (after and where.count).", maxRules))
	}
	if next := shown.cut(persons); shown.cursor != nil {
		if err := rpc.SetNextPage(ctx, next); err != nil {
			return nil, err
		}
	}
	return w.respond(ctx, out)
}

// parseDayRange returns the days between a first and a last day. A missing day leaves that side
// open.
func parseDayRange(start, end string) (civil.Range, error) {
	first, err := civil.ParseDate(cmp.Or(start, civil.Beginning.String()))
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, "where.startDate: "+err.Error()+".")
	}
	last, err := civil.ParseDate(cmp.Or(end, civil.Forever.String()))
	if err != nil {
		return civil.Range{}, fault.Invalid(fault.CodeDate, "where.endDate: "+err.Error()+".")
	}
	if last < first {
		return civil.Range{}, fault.Invalid(rules.CodeDates, "where.endDate is before where.startDate.")
	}
	return civil.Through(first.Clamp(), last.Clamp()), nil
}

// MultiUpsertWageWorkRules replaces the rules of persons for jobs on the sent days. Each
// person succeeds or fails separately. If the response exceeds the maximum number of rules,
// the remaining persons appear with their identity only, although they were changed.
func (w *Handler) MultiUpsertWageWorkRules(ctx context.Context, req *commonsv1.PersonWageWorkRulesList) (*commonsv1.PersonWageWorkRulesList, error) {
	wages := make([][]*commonsv1.WageWorkRule, len(req.GetPersons()))
	base := make([][]*commonsv1.BaseWageRate, len(wages))
	failed := make([]error, len(wages))
	for i, in := range req.GetPersons() {
		wages[i], base[i], failed[i] = readWages(in.GetEffectiveDatedWageWorkRules())
		if who := in.GetEmployee(); failed[i] == nil && who.GetId() == 0 && who.GetQualifier() == "" {
			failed[i] = fault.Invalid(rules.CodeNoIdentity, "employee needs an id or a qualifier that names the person.")
		}
	}
	if err := w.findJobs(ctx, wages, failed); err != nil {
		return nil, err
	}
	var persons []*commonsv1.Person
	var with writer.Related
	var at []int
	for i, in := range req.GetPersons() {
		if failed[i] == nil {
			person := &commonsv1.Person{PersonIdentity: employeeIdentity(in.GetEmployee())}
			if len(base[i]) > 0 {
				person.JobAssignment = &commonsv1.JobAssignment{BaseWageRates: base[i]}
			}
			persons = append(persons, person)
			with.WageRules, at = append(with.WageRules, wages[i]), append(at, i)
		}
	}
	items, err := w.writer.WriteWith(ctx, persons, writer.Update, with)
	if err != nil {
		return nil, err
	}
	made := make([]*store.Item, len(wages))
	for i, it := range items {
		made[at[i]], failed[at[i]] = it, it.Err
	}
	out := &bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]{}
	all := &selection{days: civil.Range{From: civil.Beginning, To: civil.Forever}, remaining: maxRules}
	for i, in := range req.GetPersons() {
		if failed[i] != nil {
			out.Fail(in, fault.FromError(failed[i]))
			continue
		}
		out.Succeed(in, all.person(made[i].ID, made[i].Record))
	}
	return w.respond(ctx, out)
}

// employeeIdentity returns the identity of an employee. The id takes precedence over the number.
func employeeIdentity(employee *commonv1.Ref) *commonsv1.PersonIdentity {
	switch {
	case employee.GetId() == 0 && employee.GetQualifier() == "":
		return nil
	case employee.GetId() == 0:
		return &commonsv1.PersonIdentity{PersonNumber: proto.String(employee.GetQualifier())}
	}
	return &commonsv1.PersonIdentity{PersonKey: employee.Id}
}

// respond fills in the ids of the jobs and returns the outcome.
func (w *Handler) respond(ctx context.Context, out *bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]) (*commonsv1.PersonWageWorkRulesList, error) {
	if err := w.fillJobs(ctx, out.Successes()); err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResultWithCode(ctx, out, fault.CodeBulkFailed) // Operations on persons use this code.
	return &commonsv1.PersonWageWorkRulesList{Persons: done, Failure: failure}, err
}
