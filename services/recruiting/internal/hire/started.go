package hire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

const (
	// sweepEvery and sweepBatch limit the cost of a sweep.
	sweepEvery = 10 * time.Second
	sweepBatch = 100
	// startedAge is the age at which the worker treats a hire as interrupted. If the request still works on it,
	// both complete the hire, and its person is created once.
	startedAge = 30 * time.Second
)

// started is a hire with the state STARTED.
type started struct {
	TenantID int64
	ID       string
	Number   string
	request  *request
}

// insert stores a hire. Without an employee number in the request, the number of the person follows from
// the number of the hire.
func (s *started) insert(ctx context.Context, tx pgx.Tx, opportunityID string) error {
	err := tx.QueryRow(ctx, `INSERT INTO hire AS h (tenant_id, id, application_id, opportunity_id, person_number, request) VALUES ($1, $2, $3, $4, $5, '')
		RETURNING coalesce(nullif(person_number, ''), 'H' || lpad(number::text, 8, '0'))`,
		s.TenantID, s.ID, s.request.GetId(), opportunityID, s.request.GetEmployee().GetEmployeeNumber()).Scan(&s.Number)
	if err != nil {
		return fmt.Errorf("store a hire: %w", err)
	}
	s.request.Employee.EmployeeNumber = s.Number
	body, err := proto.Marshal(s.request)
	if err != nil {
		return fmt.Errorf("encode a hire: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE hire SET person_number = $3, request = $4 WHERE tenant_id = $1 AND id = $2`, s.TenantID, s.ID, s.Number, body); err != nil {
		return fmt.Errorf("store the request of a hire: %w", err)
	}
	return nil
}

// settle ends a hire, and reports whether it was STARTED. Personal data of the request go.
func (s *started) settle(ctx context.Context, tx pgx.Tx, state string, personID int64, failure string) (bool, error) {
	tag, err := tx.Exec(ctx, `UPDATE hire SET state = $3, person_id = nullif($4, 0::bigint), failure = $5, request = '' WHERE tenant_id = $1 AND id = $2 AND state = 'STARTED'`,
		s.TenantID, s.ID, state, personID, failure)
	if err != nil {
		return false, fmt.Errorf("end a hire: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// complete creates the person of a hire, and makes the hire DONE. If commons refuses the person, the hire is
// FAILED. After other errors, it stays STARTED for the worker. Commons sees no user, so that the result does
// not depend on whether the request or the worker completes the hire.
func (h *Handler) complete(ctx context.Context, s *started) (*recruitingv1.Hire, error) {
	response, err := h.commons.HirePerson(authn.With(ctx, nil, ""), &commonsv1.HirePersonRequest{
		Key: s.ID, Employee: s.request.GetEmployee(), EmploymentTerm: s.request.GetEmploymentTerm().GetName(),
	})
	if err != nil {
		return nil, h.fail(ctx, s, err)
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error { return h.finish(ctx, tx, s, response.GetPersonId()) })
	if err != nil {
		return nil, err
	}
	return &recruitingv1.Hire{
		Id: s.ID, Application: &recruitingv1.IdRef{Id: s.request.GetId()}, Person: &recruitingv1.IdRef{Id: record.PersonGUID(response.GetPersonId())},
		PersonNumber: s.Number, State: "DONE",
	}, nil
}

// fail makes a hire FAILED if its error is a refusal, and returns the error.
func (h *Handler) fail(ctx context.Context, s *started, cause error) error {
	refusal := fault.FromError(cause)
	if !isRefusal(refusal.Status) {
		return cause
	}
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := s.settle(ctx, tx, "FAILED", 0, refusal.Code)
		return err
	})
	if err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// isRefusal reports whether a repeated request would get the same answer.
func isRefusal(status int) bool {
	return status == 400 || status == 403 || status == 409 || status == 413
}

// Run completes interrupted hires until ctx ends.
func (h *Handler) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if err := h.Sweep(ctx, startedAge); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "a hire could not be completed, and will be tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// Sweep completes the hires of all tenants that have been STARTED for some time.
func (h *Handler) Sweep(ctx context.Context, age time.Duration) error {
	list, err := pg.Collect(tenant.All(ctx), h.pool, scanStarted, `SELECT tenant_id, id::text, person_number, request FROM hire
		WHERE state = 'STARTED' AND started_at <= now() - make_interval(secs => $1) ORDER BY started_at LIMIT $2`, age.Seconds(), sweepBatch)
	if err != nil {
		return fmt.Errorf("find interrupted hires: %w", err)
	}
	var errs []error
	for _, s := range list {
		if _, err := h.complete(tenant.With(ctx, s.TenantID), s); err != nil {
			errs = append(errs, fmt.Errorf("hire %s: %w", s.ID, err))
		}
	}
	return errors.Join(errs...)
}

func scanStarted(row pgx.CollectableRow) (*started, error) {
	s := &started{request: &request{}}
	var body []byte
	if err := row.Scan(&s.TenantID, &s.ID, &s.Number, &body); err != nil {
		return nil, err
	}
	return s, proto.Unmarshal(body, s.request)
}
