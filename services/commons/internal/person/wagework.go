package person

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// WageWorkRules serves WageWorkRuleService.
type WageWorkRules struct {
	commonsv1.UnsafeWageWorkRuleServiceServer
	pool   *pgxpool.Pool
	reader *reader
	writer *writer
}

func newWageWorkRules(pool *pgxpool.Pool, reader *reader, writer *writer) *WageWorkRules {
	return &WageWorkRules{pool: pool, reader: reader, writer: writer}
}

// MultiReadWageWorkRules answers the rules of persons in the order asked for.
// Unknown persons fail by themselves.
func (w *WageWorkRules) MultiReadWageWorkRules(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonsv1.PersonWageWorkRulesList, error) {
	out := &bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]{}
	err := w.reader.each(ctx, req.GetWhere(), func(_ civil.Date, k key, p *stored) {
		if p == nil {
			out.Fail(&commonsv1.PersonWageWorkRules{PersonIdentity: k.identity()}, k.unknown())
			return
		}
		out.Succeed(nil, wireWages(p.id, p.record))
	})
	if err != nil {
		return nil, err
	}
	return w.answer(ctx, out)
}

// MultiUpsertWageWorkRules replaces what persons have for jobs on the days of
// what is sent. Each person succeeds or fails by themselves.
func (w *WageWorkRules) MultiUpsertWageWorkRules(ctx context.Context, req *commonsv1.PersonWageWorkRulesList) (*commonsv1.PersonWageWorkRulesList, error) {
	wages := make([][]*wageRule, len(req.GetPersons()))
	failed := make([]error, len(wages))
	for i, in := range req.GetPersons() {
		wages[i], failed[i] = readWages(in.GetWageWorkRules())
	}
	if err := w.findJobs(ctx, req.GetPersons(), wages, failed); err != nil {
		return nil, err
	}
	var persons []*commonsv1.Person
	var with beside
	var at []int
	for i, in := range req.GetPersons() {
		if failed[i] == nil {
			persons = append(persons, &commonsv1.Person{PersonIdentity: in.GetPersonIdentity()})
			with.wages, at = append(with.wages, wages[i]), append(at, i)
		}
	}
	items, err := w.writer.writeWith(ctx, persons, changes, with)
	if err != nil {
		return nil, err
	}
	made := make([]*item, len(wages))
	for i, it := range items {
		made[at[i]], failed[at[i]] = it, it.err
	}
	out := &bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]{}
	for i, in := range req.GetPersons() {
		if failed[i] != nil {
			out.Fail(in, fault.FromError(failed[i]))
			continue
		}
		now := wireWages(made[i].id, made[i].record)
		now.PersonIdentity.RequestItemId = in.GetPersonIdentity().RequestItemId
		out.Succeed(in, now)
	}
	return w.answer(ctx, out)
}

// readWages checks the rules of one person but for their jobs.
func readWages(given []*commonsv1.WageWorkRule) ([]*wageRule, error) {
	if len(given) == 0 {
		return nil, fault.Invalid(CodeMissing, "The required property wageWorkRules is missing.")
	}
	out := make([]*wageRule, len(given))
	for i, g := range given {
		if g.GetJob().GetId() == 0 && g.GetJob().GetQualifier() == "" {
			return nil, fault.Invalid(CodeMissing, fmt.Sprintf("wageWorkRules[%d].job needs an id or a qualifier.", i))
		}
		if rate := g.GetHourlyRate(); rate < 0 || math.IsNaN(rate) || math.IsInf(rate, 0) {
			return nil, fault.Invalid(CodeBadValue, fmt.Sprintf("wageWorkRules[%d].hourlyRate is not a rate.", i))
		}
		if g.GetWorkRule() != nil && g.GetWorkRule().GetQualifier() == "" {
			return nil, fault.Invalid(CodeBadValue, fmt.Sprintf("wageWorkRules[%d].workRule needs a qualifier: work rules go by their names.", i))
		}
		out[i] = &wageRule{
			workRule: g.GetWorkRule().GetQualifier(), rate: g.HourlyRate,
			effective: g.GetEffectiveDate(), expiration: g.GetExpirationDate(),
		}
	}
	return out, nil
}

func wireWages(id int64, r *record) *commonsv1.PersonWageWorkRules {
	out := &commonsv1.PersonWageWorkRules{PersonIdentity: identity(id, r.number())}
	for _, w := range r.wageRules {
		wire := &commonsv1.WageWorkRule{
			Job: &commonv1.Ref{Qualifier: &w.path}, HourlyRate: w.rate,
			EffectiveDate: w.effective, ExpirationDate: w.expiration,
		}
		if w.workRule != "" {
			wire.WorkRule = &commonv1.Ref{Qualifier: &w.workRule}
		}
		out.WageWorkRules = append(out.WageWorkRules, wire)
	}
	return out
}

// answer fills in the ids of the jobs and answers the outcome.
func (w *WageWorkRules) answer(ctx context.Context, out *bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]) (*commonsv1.PersonWageWorkRulesList, error) {
	if err := w.fillJobs(ctx, out.Successes()); err != nil {
		return nil, err
	}
	done, failure, err := rpc.SettledAs(ctx, out, fault.CodeBulkFailed) // What operations on persons say.
	return &commonsv1.PersonWageWorkRulesList{Persons: done, Failure: failure}, err
}
