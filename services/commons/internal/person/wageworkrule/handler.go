// Package wageworkrule serves WageWorkRuleService: wages and work rules of a person
// by job.
package wageworkrule

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/writer"
)

// Handler serves WageWorkRuleService.
type Handler struct {
	commonsv1.UnsafeWageWorkRuleServiceServer
	pool   *pgxpool.Pool
	reader *reader.Reader
	writer *writer.Writer
}

func New(pool *pgxpool.Pool, reader *reader.Reader, writer *writer.Writer) *Handler {
	return &Handler{pool: pool, reader: reader, writer: writer}
}

// MultiReadWageWorkRules returns the rules of persons in the order asked for.
// Unknown persons fail by themselves.
func (w *Handler) MultiReadWageWorkRules(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonsv1.PersonWageWorkRulesList, error) {
	out := &bulk.Outcome[*commonsv1.PersonWageWorkRules, *commonsv1.PersonWageWorkRules]{}
	err := w.reader.ForEach(ctx, req.GetWhere(), func(_ civil.Date, k store.Key, p *store.Person) {
		if p == nil {
			out.Fail(&commonsv1.PersonWageWorkRules{PersonIdentity: k.Identity()}, k.NotFound())
			return
		}
		out.Succeed(nil, wireWages(p.ID, p.Record))
	})
	if err != nil {
		return nil, err
	}
	return w.answer(ctx, out)
}

// MultiUpsertWageWorkRules replaces what persons have for jobs on the days of
// what is sent. Each person succeeds or fails by themselves.
func (w *Handler) MultiUpsertWageWorkRules(ctx context.Context, req *commonsv1.PersonWageWorkRulesList) (*commonsv1.PersonWageWorkRulesList, error) {
	wages := make([][]*commonsv1.WageWorkRule, len(req.GetPersons()))
	failed := make([]error, len(wages))
	for i, in := range req.GetPersons() {
		wages[i], failed[i] = readWages(in.GetWageWorkRules())
	}
	if err := w.findJobs(ctx, req.GetPersons(), wages, failed); err != nil {
		return nil, err
	}
	var persons []*commonsv1.Person
	var with writer.Related
	var at []int
	for i, in := range req.GetPersons() {
		if failed[i] == nil {
			persons = append(persons, &commonsv1.Person{PersonIdentity: in.GetPersonIdentity()})
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
		now := wireWages(made[i].ID, made[i].Record)
		now.PersonIdentity.RequestItemId = in.GetPersonIdentity().RequestItemId
		out.Succeed(in, now)
	}
	return w.answer(ctx, out)
}

// readWages checks the rules of one person but for their jobs.
func readWages(given []*commonsv1.WageWorkRule) ([]*commonsv1.WageWorkRule, error) {
	if len(given) == 0 {
		return nil, fault.Invalid(rules.CodeMissing, "The required property wageWorkRules is missing.")
	}
	out := make([]*commonsv1.WageWorkRule, len(given))
	for i, g := range given {
		if g.GetJob().GetId() == 0 && g.GetJob().GetQualifier() == "" {
			return nil, fault.Invalid(rules.CodeMissing, fmt.Sprintf("wageWorkRules[%d].job needs an id or a qualifier.", i))
		}
		if rate := g.GetHourlyRate(); rate < 0 || math.IsNaN(rate) || math.IsInf(rate, 0) {
			return nil, fault.Invalid(rules.CodeBadValue, fmt.Sprintf("wageWorkRules[%d].hourlyRate is not a rate.", i))
		}
		if g.GetWorkRule() != nil && g.GetWorkRule().GetQualifier() == "" {
			return nil, fault.Invalid(rules.CodeBadValue, fmt.Sprintf("wageWorkRules[%d].workRule needs a qualifier: work rules go by their names.", i))
		}
		out[i] = &commonsv1.WageWorkRule{HourlyRate: g.HourlyRate, EffectiveDate: g.GetEffectiveDate(), ExpirationDate: g.GetExpirationDate()}
		if g.GetWorkRule() != nil {
			out[i].WorkRule = &commonv1.Ref{Qualifier: g.GetWorkRule().Qualifier}
		}
	}
	return out, nil
}

func wireWages(id int64, r *record.Record) *commonsv1.PersonWageWorkRules {
	out := &commonsv1.PersonWageWorkRules{PersonIdentity: record.NewIdentity(id, r.Number())}
	for _, w := range r.WageRules {
		out.WageWorkRules = append(out.WageWorkRules, proto.CloneOf(w))
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
