// Package wageworkrule serves WageWorkRuleService: wages and work rules of a person
// by job.
package wageworkrule

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/writer"
)

// maxPage bounds the persons of a page: no more can be asked for.
const maxPage = 1000

// Handler serves WageWorkRuleService.
type Handler struct {
	commonsv1.UnsafeWageWorkRuleServiceServer
	pool   *pg.Pool
	reader *reader.Reader
	writer *writer.Writer
}

// New returns a Handler of wage and work rules.
func New(pool *pg.Pool, reader *reader.Reader, writer *writer.Writer) *Handler {
	return &Handler{pool: pool, reader: reader, writer: writer}
}

// MultiReadWageWorkRules returns the rules of persons in the order asked for.
// Unknown persons fail by themselves.
func (w *Handler) MultiReadWageWorkRules(ctx context.Context, req *commonsv1.MultiReadWageWorkRulesRequest) (*commonsv1.PersonWageWorkRulesList, error) {
	where := req.GetWhere()
	if where == nil {
		where = &commonsv1.WageWorkRuleWhere{}
	}
	days, err := daysOf(where.GetStartDate(), where.GetEndDate())
	if err != nil {
		return nil, err
	}
	first, behind, err := pageOf(req)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]{}
	at := int64(-1)
	err = w.reader.ForEach(ctx, &commonsv1.PersonWhere{
		Employees: where.GetEmployees(), SnapshotDate: where.GetSnapshotDate(),
		OnlyActivePerson: where.OnlyActivePerson, HyperFindFilter: where.GetHyperFindFilter(),
	}, func(_ civil.Date, k store.Key, p *store.Person) {
		if at++; at < first || at >= behind {
			return
		}
		if p == nil {
			out.Fail(&commonsv1.PersonWageWorkRules{Employee: &commonv1.Ref{Id: k.Identity().PersonKey, Qualifier: k.Identity().PersonNumber}}, k.NotFound())
			return
		}
		out.Succeed(nil, wireWages(p.ID, p.Record, days))
	})
	if err != nil {
		return nil, err
	}
	return w.answer(ctx, out)
}

// daysOf returns the days from a first to a last one; open without them.
func daysOf(start, end string) (civil.Range, error) {
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

// pageOf returns the places of the first person of a page and of the first behind
// it; without a page, of all persons.
func pageOf(req *commonsv1.MultiReadWageWorkRulesRequest) (first, behind int64, err error) {
	switch {
	case req.Count == nil && req.GetIndex() != 0:
		return 0, 0, fault.Invalid(fault.CodeValue, "index needs count, the number of persons in a page.")
	case req.Count == nil:
		return 0, math.MaxInt64, nil
	case req.GetCount() < 1 || req.GetCount() > maxPage:
		return 0, 0, fault.Invalid(fault.CodeValue, fmt.Sprintf("count must be 1 to %d.", maxPage))
	case req.GetIndex() < 0 || req.GetIndex() > math.MaxInt32:
		return 0, 0, fault.Invalid(fault.CodeValue, "index must be 0 or more.")
	}
	return req.GetIndex() * req.GetCount(), (req.GetIndex() + 1) * req.GetCount(), nil
}

// MultiUpsertWageWorkRules replaces what persons have for jobs on the days of
// what is sent. Each person succeeds or fails by themselves.
func (w *Handler) MultiUpsertWageWorkRules(ctx context.Context, req *commonsv1.PersonWageWorkRulesList) (*commonsv1.PersonWageWorkRulesList, error) {
	wages := make([][]*commonsv1.WageWorkRule, len(req.GetPersons()))
	failed := make([]error, len(wages))
	for i, in := range req.GetPersons() {
		wages[i], failed[i] = readWages(in.GetEffectiveDatedWageWorkRules())
		if who := in.GetEmployee(); failed[i] == nil && who.GetId() == 0 && who.GetQualifier() == "" {
			failed[i] = fault.Invalid(rules.CodeNoIdentity, "employee needs an id or a qualifier that names the person.")
		}
	}
	if err := w.findJobs(ctx, req.GetPersons(), wages, failed); err != nil {
		return nil, err
	}
	var persons []*commonsv1.Person
	var with writer.Related
	var at []int
	for i, in := range req.GetPersons() {
		if failed[i] == nil {
			persons = append(persons, &commonsv1.Person{PersonIdentity: identityOf(in.GetEmployee())})
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
	for i, in := range req.GetPersons() {
		if failed[i] != nil {
			out.Fail(in, fault.FromError(failed[i]))
			continue
		}
		out.Succeed(in, wireWages(made[i].ID, made[i].Record, civil.Range{From: civil.Beginning, To: civil.Forever}))
	}
	return w.answer(ctx, out)
}

// readWages checks the rules of one person but for their jobs.
func readWages(given []*commonsv1.WageWorkRule) ([]*commonsv1.WageWorkRule, error) {
	if len(given) == 0 {
		return nil, fault.Invalid(rules.CodeMissing, "The required property effectiveDatedWageWorkRules is missing.")
	}
	out := make([]*commonsv1.WageWorkRule, len(given))
	for i, g := range given {
		if g.GetJob().GetId() == 0 && g.GetJob().GetQualifier() == "" {
			return nil, fault.Invalid(rules.CodeMissing, fmt.Sprintf("effectiveDatedWageWorkRules[%d].job needs an id or a qualifier.", i))
		}
		if rate := g.GetHourlyRate(); rate < 0 || math.IsNaN(rate) || math.IsInf(rate, 0) {
			return nil, fault.Invalid(rules.CodeBadValue, fmt.Sprintf("effectiveDatedWageWorkRules[%d].hourlyRate is not a rate.", i))
		}
		if g.GetWorkRule() != nil && g.GetWorkRule().GetQualifier() == "" {
			return nil, fault.Invalid(rules.CodeBadValue, fmt.Sprintf("effectiveDatedWageWorkRules[%d].workRule needs a qualifier: work rules go by their names.", i))
		}
		out[i] = &commonsv1.WageWorkRule{HourlyRate: g.HourlyRate, EffectiveDate: g.GetEffectiveDate(), ExpirationDate: g.GetExpirationDate()}
		if g.GetWorkRule() != nil {
			out[i].WorkRule = &commonv1.Ref{Qualifier: g.GetWorkRule().Qualifier}
		}
	}
	return out, nil
}

// identityOf returns the identity of an employee: by id, when both are given.
func identityOf(employee *commonv1.Ref) *commonsv1.PersonIdentity {
	switch {
	case employee.GetId() == 0 && employee.GetQualifier() == "":
		return nil
	case employee.GetId() == 0:
		return &commonsv1.PersonIdentity{PersonNumber: proto.String(employee.GetQualifier())}
	}
	return &commonsv1.PersonIdentity{PersonKey: employee.Id}
}

// wireWages returns the rules of a person that hold on some of the days.
func wireWages(id int64, r *record.Record, days civil.Range) *commonsv1.PersonWageWorkRules {
	out := &commonsv1.PersonWageWorkRules{Employee: &commonv1.Ref{Id: &id, Qualifier: proto.String(r.Number())}}
	for _, w := range r.WageRules {
		if !record.RangeOf(record.DatesOf(w)).Intersect(days).Empty() {
			out.EffectiveDatedWageWorkRules = append(out.EffectiveDatedWageWorkRules, proto.CloneOf(w))
		}
	}
	return out
}

// answer fills in the ids of the jobs and returns the outcome.
func (w *Handler) answer(ctx context.Context, out *bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]) (*commonsv1.PersonWageWorkRulesList, error) {
	if err := w.fillJobs(ctx, out.Successes()); err != nil {
		return nil, err
	}
	done, failure, err := rpc.SettledAs(ctx, out, fault.CodeBulkFailed) // What operations on persons say.
	return &commonsv1.PersonWageWorkRulesList{Persons: done, Failure: failure}, err
}
