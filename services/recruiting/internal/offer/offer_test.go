package offer

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var now = time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)

func TestActionsChangeTheStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, action, to, code string }{
		{"submit a draft", draft, submit, pendingApproval, ""},
		{"approve", pendingApproval, "Approve", approved, ""},
		{"reject", pendingApproval, "Reject", rejected, ""},
		{"send", approved, "Send", sent, ""},
		{"accept", sent, "Accept", accepted, ""},
		{"decline", sent, "Decline", declined, ""},
		{"withdraw", sent, "Withdraw", withdrawn, ""},
		{"send a draft", draft, "Send", "", CodeStatus},
		{"accept twice", accepted, "Accept", "", CodeStatus},
		{"withdraw an accepted offer", accepted, "Withdraw", "", CodeStatus},
		{"another action", draft, "Dance", "", CodeInvalid},
		{"no action", draft, "", "", CodeMissing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, a := &offer{Status: c.from, ExpirationDate: "2026-05-04"}, &action{Action: c.action}
			err := apply(o, a, now)
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v", err)
				assert.Equal(t, c.from, o.GetStatus())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.to, o.GetStatus())
			assert.Equal(t, c.to == accepted, o.GetHireDetails().GetAcceptDate() == "2026-05-04")
			assert.Equal(t, []string{c.from, c.to}, []string{a.GetOriginStatus(), a.GetDestinationStatus()})
		})
	}
	expired := &offer{Status: sent, ExpirationDate: "2026-05-03"}
	require.True(t, fault.HasCode(apply(expired, &action{Action: "Accept"}, now), CodeExpired))
}

// fixture has an application for an opportunity of the recruiter 7.
type fixture struct {
	*Handler
	ctx         context.Context
	application string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	f := fixture{Handler: New(pooltest.New(t), clock.NewFake(now), nil), ctx: tenant.With(t.Context(), 1)}
	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		c, err := candidate.Candidates.Insert(ctx, tx, &recruitingv1.Candidate{}, record.Columns{"email": "ada@example.test"})
		if err != nil {
			return err
		}
		o, err := opportunity.Opportunities.Insert(ctx, tx, &recruitingv1.Opportunity{}, record.Columns{"requisition_number": "1", "is_shared_with_everyone": false, "recruiter_id": int64(7)})
		if err != nil {
			return err
		}
		body := &recruitingv1.Application{Opportunity: &recruitingv1.IdRef{Id: o.ID}, HireDetails: &recruitingv1.HireDetails{StartDate: "2026-06-01"}}
		a, err := application.Applications.Insert(ctx, tx, body, record.Columns{"candidate_id": c.ID, "opportunity_id": o.ID})
		f.application = a.ID
		return err
	}))
	return f
}

func (f fixture) create(ctx context.Context) (*offer, error) {
	return f.CreateOffer(ctx, &offer{Application: &recruitingv1.IdRef{Id: f.application}})
}

func (f fixture) do(ctx context.Context, id, name string) error {
	_, err := f.CreateOfferAction(ctx, &recruitingv1.CreateOfferActionRequest{Id: id, Body: &action{Action: name}})
	return err
}

func TestAnApplicationHasOneOpenOffer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first, err := f.create(f.ctx)
	require.NoError(t, err)
	assert.Equal(t, "2026-06-01", first.GetHireDetails().GetStartDate(), "the terms are the ones of the application")
	_, err = f.create(f.ctx)
	require.True(t, fault.HasCode(err, CodeOpen), "%v", err)
	require.NoError(t, f.do(f.ctx, first.GetId(), "Withdraw"))
	second, err := f.create(f.ctx)
	require.NoError(t, err)
	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		a, err := application.Applications.Lock(ctx, tx, f.application, record.Condition{})
		if err != nil {
			return err
		}
		a.Body.IsProcessed = proto.Bool(true)
		_, err = application.Applications.Update(ctx, tx, a.ID, a.Body, nil)
		return err
	}))
	require.NoError(t, f.do(f.ctx, second.GetId(), "Withdraw"))
	_, err = f.create(f.ctx)
	require.True(t, fault.HasCode(err, application.CodeProcessed), "%v", err)
}

func TestOneOfTwoAnswersCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o, err := f.create(f.ctx)
	require.NoError(t, err)
	for _, name := range []string{submit, "Approve", "Send"} {
		require.NoError(t, f.do(f.ctx, o.GetId(), name))
	}
	errs := make([]error, 2)
	var group errgroup.Group
	for i, name := range []string{"Accept", "Decline"} {
		group.Go(func() error {
			errs[i] = f.do(f.ctx, o.GetId(), name)
			return nil
		})
	}
	require.NoError(t, group.Wait())
	assert.NotEqual(t, errs[0] == nil, errs[1] == nil, "%v", errs)
	list, err := f.ListOfferActions(f.ctx, &recruitingv1.ListOfferActionsRequest{Id: o.GetId()})
	require.NoError(t, err)
	assert.Len(t, list.GetItems(), 4)
}

func TestRestrictedCallersSeeOffersOfTheirOpportunities(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	as := func(person int64) context.Context {
		return authn.With(f.ctx, &authn.Principal{Tenant: 1, Subject: "a", PersonID: person, Rows: "own"}, "")
	}
	_, err := f.create(as(8))
	require.True(t, fault.HasCode(err, application.CodeUnknown), "%v", err)
	o, err := f.create(as(7))
	require.NoError(t, err)
	assert.Equal(t, record.PersonGUID(7), o.GetCreator().GetId())
	require.True(t, fault.HasCode(f.do(as(8), o.GetId(), submit), CodeUnknown))
	_, err = f.GetOffer(as(8), &recruitingv1.GetOfferRequest{Id: o.GetId()})
	require.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
	list, err := f.ListOffers(as(8), &recruitingv1.ListOffersRequest{})
	require.NoError(t, err)
	assert.Empty(t, list.GetItems())
	list, err = f.ListOffers(as(7), &recruitingv1.ListOffersRequest{})
	require.NoError(t, err)
	assert.Len(t, list.GetItems(), 1)
}
