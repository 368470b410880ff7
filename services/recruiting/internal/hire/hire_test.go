package hire

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// commons creates one person for each key. Before and after that, it may fail.
type commons struct {
	grpc.ClientConnInterface
	mu            sync.Mutex
	persons       map[string]*commonsv1.HirePersonRequest
	ids           map[string]int64 // of the persons, by the same keys
	before, after error
}

func (c *commons) Invoke(ctx context.Context, _ string, in, out any, _ ...grpc.CallOption) error {
	req, ok := in.(*commonsv1.HirePersonRequest)
	if !ok {
		return nil
	}
	if _, known := authn.From(ctx); known {
		return fault.Forbidden("x", "The hire runs in the name of a user.")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.before != nil {
		return c.before
	}
	c.persons[req.GetKey()] = req
	if c.ids[req.GetKey()] == 0 {
		c.ids[req.GetKey()] = int64(len(c.persons))
	}
	out.(*commonsv1.HirePersonResponse).PersonId = c.ids[req.GetKey()]
	return c.after
}

type fixture struct {
	*Handler
	ctx         context.Context
	commons     *commons
	opportunity string
}

// newFixture has an opportunity with a number of positions.
func newFixture(t *testing.T, positions int32) fixture {
	t.Helper()
	c := &commons{persons: map[string]*commonsv1.HirePersonRequest{}, ids: map[string]int64{}}
	f := fixture{
		Handler: New(pooltest.New(t), clock.NewFake(time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)), slog.New(slog.DiscardHandler), c),
		ctx:     tenant.With(t.Context(), 1), commons: c,
	}
	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		o := &recruitingv1.Opportunity{
			Status: opportunity.Published, HeadCount: &recruitingv1.HeadCount{Max: &positions, Hired: proto.Int32(0)},
			FullTimeEquivalent: &recruitingv1.OpportunityFullTimeEquivalent{Filled: proto.Float64(0)},
		}
		r, err := opportunity.Opportunities.Insert(ctx, tx, o, record.Columns{"requisition_number": "1", "is_shared_with_everyone": false})
		f.opportunity = r.ID
		return err
	}))
	return f
}

// apply stores the application of a new candidate, and returns its id.
func (f fixture) apply(t *testing.T, email string) (id string) {
	t.Helper()
	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		body := &recruitingv1.Candidate{Name: &recruitingv1.CandidateName{First: "Ada", Last: "Moreno"}, ContactInfo: &recruitingv1.CandidateContact{Email: email}}
		c, err := candidate.Candidates.Insert(ctx, tx, body, record.Columns{"email": email})
		if err != nil {
			return err
		}
		a, err := application.Applications.Insert(ctx, tx, &recruitingv1.Application{
			Candidate: &recruitingv1.ApplicationCandidate{Id: c.ID}, Opportunity: &recruitingv1.IdRef{Id: f.opportunity}, IsProcessed: proto.Bool(false),
		}, record.Columns{"candidate_id": c.ID, "opportunity_id": f.opportunity})
		id = a.ID
		return err
	}))
	return id
}

func (f fixture) hire(id string) (*recruitingv1.Hire, error) {
	return f.HireApplicant(f.ctx, &request{Id: id, HireDetails: &recruitingv1.HireDetails{
		StartDate: "2026-06-01", FullTimeEquivalent: proto.Float64(0.5), Compensation: &recruitingv1.HireCompensation{PayRate: proto.Float64(20), HoursPerWeek: proto.Float64(30)},
	}, EmploymentTerm: &recruitingv1.HireTerm{Name: "Ward"}})
}

// requireHired checks that a number of persons exist, that the opportunity counts them, and that no hire is half done.
func (f fixture) requireHired(t *testing.T, n int) {
	t.Helper()
	assert.Len(t, f.commons.persons, n)
	o, err := opportunity.Opportunities.Get(f.ctx, f.pool, f.opportunity, record.Condition{})
	require.NoError(t, err)
	assert.EqualValues(t, n, o.Body.GetHeadCount().GetHired())
	var done, open, secrets int
	require.NoError(t, f.pool.QueryRow(f.ctx, `SELECT count(*) FILTER (WHERE state = 'DONE'), count(*) FILTER (WHERE state = 'STARTED'), count(*) FILTER (WHERE request <> '') FROM hire WHERE tenant_id = 1`).Scan(&done, &open, &secrets))
	assert.Equal(t, []int{n, 0, 0}, []int{done, open, secrets})
}

func TestAHireCreatesThePerson(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	id := f.apply(t, "ada@example.test")
	out, err := f.hire(id)
	require.NoError(t, err)
	assert.Equal(t, record.PersonGUID(1), out.GetPerson().GetId())
	sent := f.commons.persons[out.GetId()]
	require.NotNil(t, sent)
	assert.Equal(t, "Ward", sent.GetEmploymentTerm())
	assert.Equal(t, []string{"Ada", "Moreno", "ada@example.test", "2026-06-01", out.GetPersonNumber()}, []string{
		sent.GetEmployee().GetFirstName(), sent.GetEmployee().GetLastName(), sent.GetEmployee().GetEmailAddress(), sent.GetEmployee().GetHireDate(), sent.GetEmployee().GetEmployeeNumber(),
	})
	assert.InDelta(t, 20, sent.GetEmployee().GetPayRate(), 0)
	assert.InDelta(t, 30, sent.GetEmployee().GetScheduledHours(), 0)
	f.requireHired(t, 1)
	candidates, err := candidate.Candidates.All(f.ctx, f.pool, record.Condition{}, "")
	require.NoError(t, err)
	require.Len(t, candidates, 1)
	assert.Equal(t, out.GetPerson().GetId(), candidates[0].Body.GetPersonId())
	assert.True(t, candidates[0].Body.GetIsInternal())
	_, err = f.hire(id)
	require.True(t, fault.HasCode(err, application.CodeProcessed), "%v", err)
	_, err = f.hire(f.apply(t, "bo@example.test"))
	require.True(t, fault.HasCode(err, opportunity.CodeFilled), "%v", err)
}

func TestTheWorkerCompletesInterruptedHires(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		before, after error
	}{
		{"before the person exists", fault.Unavailable("Commons is away.", time.Second), nil},
		{"after the person exists", nil, fault.Unavailable("Commons is away.", time.Second)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, 1)
			f.commons.before, f.commons.after = c.before, c.after
			id := f.apply(t, "ada@example.test")
			_, err := f.hire(id)
			require.Error(t, err)
			_, err = f.hire(id)
			require.True(t, fault.HasCode(err, CodeRunning), "the hire itself has the position: %v", err)
			require.Error(t, f.Sweep(t.Context(), 0))
			f.commons.before, f.commons.after = nil, nil
			require.NoError(t, f.Sweep(t.Context(), 0))
			f.requireHired(t, 1)
			a, err := application.Applications.Get(f.ctx, f.pool, id, record.Condition{})
			require.NoError(t, err)
			assert.True(t, a.Body.GetIsProcessed())
		})
	}
}

func TestARefusedHireFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1)
	id := f.apply(t, "ada@example.test")
	f.commons.before = fault.Invalid("WCO-101232", "BirthDate is missing.")
	_, err := f.hire(id)
	require.True(t, fault.HasCode(err, "WCO-101232"), "%v", err)
	f.requireHired(t, 0)
	f.commons.before = nil
	_, err = f.hire(id)
	require.NoError(t, err, "the position is free again")
	f.requireHired(t, 1)
}

func TestConcurrentHiresTakeOnePositionEach(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3)
	var group errgroup.Group
	for i := range 6 {
		id := f.apply(t, fmt.Sprintf("c%d@example.test", i))
		for range 2 {
			group.Go(func() error {
				_, err := f.hire(id)
				if err == nil || fault.HasStatus(err, 409) {
					return nil
				}
				return err
			})
		}
	}
	group.Go(func() error { return f.Sweep(t.Context(), 0) })
	require.NoError(t, group.Wait())
	require.NoError(t, f.Sweep(t.Context(), 0))
	f.requireHired(t, 3)
}
