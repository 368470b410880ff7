// Package handover sends the pay code edits of time-off requests to scheduling, inside the
// transactions that change the requests, because scheduling may reject the edits.
//
// Before such a transaction, the package commits a claim, and the transaction deletes it. A claim
// that remains belongs to an interrupted change. The sweep then sends the state of the database to
// scheduling.
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
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
)

const (
	// callTimeout is the timeout of one call to scheduling. A transaction waits for the call.
	callTimeout = 5 * time.Second
	// maxAttempts is the maximum number of attempts of a change if the sweep takes its claims.
	maxAttempts = 5
)

// claims is the reason why claims have no entries in the audit log.
const claims pg.Unaudited = "a claim changes nothing, and the change that follows it is audited"

var (
	errUnclaimed = errors.New("handover: the change needs a claim")
	errSwept     = errors.New("handover: the claim was settled before the change began")
)

// Stored reads the pay code edits that a request has on the schedule, according to the database. A
// request that does not exist has none.
type Stored func(ctx context.Context, db pg.Querier, requestID int64) ([]*schedulingv1.PayCodeEdit, error)

// Handover changes requests together with the schedule.
type Handover struct {
	pool     *pg.Pool
	schedule schedulingv1.TimeOffEditServiceClient
	stored   Stored
	log      *slog.Logger
	waiting  prometheus.Gauge
}

// New returns a Handover of the requests in the database of the pool. Its sweep sets the metric
// waiting to the number of changes that it could not settle.
func New(pool *pg.Pool, schedule schedulingv1.TimeOffEditServiceClient, stored Stored, log *slog.Logger, waiting prometheus.Gauge) *Handover {
	return &Handover{pool: pool, schedule: schedule, stored: stored, log: log, waiting: waiting}
}

// Request identifies a request and its employee.
type Request struct {
	ID, EmployeeID int64
}

// Put replaces the edits of the request on the schedule. Call it after all checks of a change. It
// returns the errors of scheduling.
type Put func(ctx context.Context, tx pgx.Tx, edits []*schedulingv1.PayCodeEdit) error

// Change runs a change of a request in a transaction that blocks other changes of the employee's
// requests. Touches says whether the change will probably call put. If so, Change commits the claim
// first. A change that calls put unexpectedly is restarted with a claim.
func (h *Handover) Change(
	ctx context.Context, r Request, touches bool, change func(ctx context.Context, tx pgx.Tx, put Put) error,
) error {
	for range maxAttempts {
		err := h.runAttempt(ctx, r, touches, change)
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
	// uncertain means that scheduling may have carried out a call.
	uncertain bool
}

func (h *Handover) runAttempt(
	ctx context.Context, r Request, claimed bool, change func(ctx context.Context, tx pgx.Tx, put Put) error,
) error {
	tenantID := tenant.Of(ctx)
	a := &attempt{Handover: h, tenantID: tenantID, request: r}
	if claimed {
		if err := claims.QueryRow(ctx, h.pool, insertClaim, tenantID, r.ID, r.EmployeeID).Scan(&a.claim); err != nil {
			return fmt.Errorf("claim a request for time off: %w", err)
		}
	}
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := leaveday.Lock(ctx, tx, r.EmployeeID); err != nil {
			return err
		}
		if claimed {
			if there, err := takeClaim(ctx, tx, a.claim); err != nil || !there {
				return errors.Join(err, errSwept)
			}
		}
		return change(ctx, tx, a.putEdits)
	})
	if err != nil && claimed && !a.uncertain {
		a.release(ctx)
	}
	return err
}

// putEdits calls scheduling with a new version, which is higher than all earlier ones.
func (a *attempt) putEdits(ctx context.Context, tx pgx.Tx, edits []*schedulingv1.PayCodeEdit) error {
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

// release deletes the claim of a change if scheduling has not received the change, or has rejected
// it. Otherwise the sweep deletes the claim.
func (a *attempt) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	if _, err := claims.Exec(ctx, a.pool, deleteClaim, a.tenantID, a.claim); err != nil {
		a.log.WarnContext(ctx, "a claim for time off could not be released, and will be settled", "request", a.request.ID, "error", err)
	}
}

// call sends the edits of a request to scheduling. The transaction holds the lock of the employee.
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
