// Package personpay gives timekeeping the data of persons that timecards need: primary jobs,
// pay rules, wages and accrual profiles.
package personpay

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

var daysLimit = policy.FindLimit[*commonsv1.ReadPersonPayRequest]("days")

// Handler serves PersonPayService.
type Handler struct {
	commonsv1.UnsafePersonPayServiceServer
	pool *pg.Pool
}

var _ commonsv1.PersonPayServiceServer = (*Handler)(nil)

// New returns a Handler that reads the database of the pool.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

const readPrimaryJobs = `
SELECT person_id, from_date, to_date, organization_path FROM primary_labor_account
WHERE tenant_id = $1 AND person_id = ANY($2) AND from_date < $4 AND to_date > $3 ORDER BY person_id, from_date`

const readPayRules = `
SELECT person_id, from_date, to_date, pay_rule_name FROM pay_rule_assignment
WHERE tenant_id = $1 AND person_id = ANY($2) AND from_date < $4 AND to_date > $3 ORDER BY person_id, from_date`

// ReadPersonPay returns the data of persons that applies on the days.
func (h *Handler) ReadPersonPay(ctx context.Context, req *commonsv1.ReadPersonPayRequest) (*commonsv1.ReadPersonPayResponse, error) {
	tenantID := tenant.Of(ctx)
	days := civil.Range{From: civil.Date(req.GetFrom()), To: civil.Date(req.GetTo())}
	if days.Empty() {
		return nil, fault.Invalid(fault.CodeBadRequest, "The range has no days.")
	}
	if err := daysLimit.Check(days.Days()); err != nil {
		return nil, err
	}
	found := make(map[int64]*commonsv1.PersonPay, len(req.GetPersonIds()))
	of := func(id int64) *commonsv1.PersonPay {
		if found[id] == nil {
			found[id] = &commonsv1.PersonPay{PersonId: id}
		}
		return found[id]
	}
	texts := func(list func(*commonsv1.PersonPay) *[]*commonsv1.PersonDayText) func(pgx.Rows) error {
		return func(rows pgx.Rows) error {
			for rows.Next() {
				var id int64
				text := &commonsv1.PersonDayText{}
				if err := rows.Scan(&id, (*civil.Date)(&text.From), (*civil.Date)(&text.To), &text.Text); err != nil {
					return err
				}
				to := list(of(id))
				*to = append(*to, text)
			}
			return rows.Err()
		}
	}
	var snapshot pg.Snapshot
	args := []any{tenantID, req.GetPersonIds(), days.From, days.To}
	snapshot.Queue(texts(func(e *commonsv1.PersonPay) *[]*commonsv1.PersonDayText { return &e.PrimaryJobs }), readPrimaryJobs, args...)
	snapshot.Queue(texts(func(e *commonsv1.PersonPay) *[]*commonsv1.PersonDayText { return &e.PayRules }), readPayRules, args...)
	known := bodies{}
	if req.GetAccrualProfile() {
		snapshot.Queue(known.scanPersons, readPersons, tenantID, req.GetPersonIds())
		snapshot.Queue(known.scanAccrualProfiles, readAccrualProfiles, tenantID, req.GetPersonIds())
		snapshot.Queue(func(rows pgx.Rows) error { return scanTerminated(rows, of) }, readTerminated, tenantID, req.GetPersonIds(), record.StatusTerminated)
	}
	if req.GetWages() {
		snapshot.Queue(func(rows pgx.Rows) error { return scanWages(rows, of) }, readWages, tenantID, req.GetPersonIds())
	}
	if err := snapshot.Read(ctx, h.pool); err != nil {
		return nil, fmt.Errorf("read the pay of persons: %w", err)
	}
	known.addTo(of)
	out := &commonsv1.ReadPersonPayResponse{}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		out.Persons = append(out.Persons, found[id])
	}
	return out, nil
}
