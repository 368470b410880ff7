// Package handover tells scheduling which pay code edits requests for time off have on
// schedules, inside of the transactions that change the requests: scheduling may refuse them.
//
// A claim is committed before such a transaction, which deletes it. A claim that stays is of a
// change that was broken off. The sweep tells scheduling then what the database has.
package handover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
)

const (
	// callTimeout bounds one call of scheduling. A transaction waits for it.
	callTimeout = 5 * time.Second
	// maxAttempts bounds how often a change is begun again because the sweep took its claim.
	maxAttempts = 5
)

// claims says why a claim has no row in the audit log.
const claims pg.Unaudited = "a claim changes nothing, and the change that follows it is audited"

var (
	errUnclaimed = errors.New("handover: the change needs a claim")
	errSwept     = errors.New("handover: the claim was settled before the change began")
)

// Stored reads the pay code edits that a request has on the schedule, as the database has it;
// none for a request that is not there.
type Stored func(ctx context.Context, db pg.Querier, tenantID, requestID int64) ([]*schedulingv1.PayCodeEdit, error)

// Handover changes requests together with the schedule.
type Handover struct {
	pool     *pg.Pool
	schedule schedulingv1.TimeOffEditServiceClient
	stored   Stored
	log      *slog.Logger
	waiting  prometheus.Gauge
}

// New returns a Handover of the requests in the database of the pool. Its sweep counts the
// changes that it cannot settle.
func New(pool *pg.Pool, schedule schedulingv1.TimeOffEditServiceClient, stored Stored, log *slog.Logger, waiting prometheus.Gauge) *Handover {
	return &Handover{pool: pool, schedule: schedule, stored: stored, log: log, waiting: waiting}
}

// Request names a request and its employee.
type Request struct {
	ID, EmployeeID int64
}

// Put replaces what the request has on the schedule. It comes after all checks of a change,
// and fails as scheduling does.
type Put func(ctx context.Context, tx pgx.Tx, edits []*schedulingv1.PayCodeEdit) error

// Change runs the change of a request in a transaction in which other changes of the
// employee's requests wait. Touches says whether the change is expected to put: then it
// claims at once. One that puts unexpectedly is begun again.
func (h *Handover) Change(
	ctx context.Context, tenantID int64, r Request, touches bool, change func(ctx context.Context, tx pgx.Tx, put Put) error,
) error {
	for range maxAttempts {
		err := h.attempt(ctx, tenantID, r, touches, change)
		switch {
		case errors.Is(err, errUnclaimed):
			touches = true
		case !errors.Is(err, errSwept):
			return err
		}
	}
	return fault.Unavailable("The request is being settled at the moment. Send it again.", time.Second)
}

// attempt is one attempt of a change.
type attempt struct {
	*Handover
	tenantID, claim int64
	request         Request
	// uncertain says that scheduling may have carried out a call.
	uncertain bool
}

func (h *Handover) attempt(
	ctx context.Context, tenantID int64, r Request, claimed bool, change func(ctx context.Context, tx pgx.Tx, put Put) error,
) error {
	a := &attempt{Handover: h, tenantID: tenantID, request: r}
	if claimed {
		if err := claims.QueryRow(ctx, h.pool, insertClaim, tenantID, r.ID, r.EmployeeID).Scan(&a.claim); err != nil {
			return fmt.Errorf("claim a request for time off: %w", err)
		}
	}
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := leaveday.Lock(ctx, tx, tenantID, r.EmployeeID); err != nil {
			return err
		}
		if claimed {
			if there, err := takeClaim(ctx, tx, tenantID, a.claim); err != nil || !there {
				return errors.Join(err, errSwept)
			}
		}
		return change(ctx, tx, a.put)
	})
	if err != nil && claimed && !a.uncertain {
		a.release(ctx)
	}
	return err
}

// put calls scheduling with a version that is newer than all before it.
func (a *attempt) put(ctx context.Context, tx pgx.Tx, edits []*schedulingv1.PayCodeEdit) error {
	if a.claim == 0 {
		return errUnclaimed
	}
	before := a.uncertain
	a.uncertain = true
	err := a.call(ctx, tx, a.request, edits, false)
	if fault.HasStatus(err, http.StatusBadRequest) {
		a.uncertain = before
	}
	return err
}

// release deletes the claim of a change that scheduling has not seen, or has refused. The
// sweep does it otherwise.
func (a *attempt) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if _, err := claims.Exec(ctx, a.pool, deleteClaim, a.tenantID, a.claim); err != nil {
		a.log.WarnContext(ctx, "a claim for time off could not be released, and will be settled", "request", a.request.ID, "error", err)
	}
}

// call tells scheduling what a request has on the schedule. The transaction holds the lock of
// the employee.
func (h *Handover) call(ctx context.Context, tx pgx.Tx, r Request, edits []*schedulingv1.PayCodeEdit, repeats bool) error {
	var version int64
	if err := tx.QueryRow(ctx, `SELECT nextval('time_off_version')`).Scan(&version); err != nil {
		return fmt.Errorf("number the time off of a request: %w", err)
	}
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := h.schedule.PutTimeOff(limited, &schedulingv1.PutTimeOffRequest{
		RequestId: r.ID, Version: version, EmployeeId: r.EmployeeID, PayCodeEdits: edits, Repeats: repeats,
	}, grpc.WaitForReady(true))
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fault.Unavailable("The scheduling service does not respond. Nothing was changed. Send the request again.", callTimeout).WithCause(err)
	}
	if err != nil {
		return fmt.Errorf("put time off on the schedule: %w", err)
	}
	if response.GetVersion() != version {
		return fmt.Errorf("put time off on the schedule: the version %d of request %d is older than %d", version, r.ID, response.GetVersion())
	}
	return nil
}
