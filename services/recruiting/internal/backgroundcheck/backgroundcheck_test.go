package backgroundcheck

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
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

// commons is a connection to a commons that has every person.
type commons struct{ grpc.ClientConnInterface }

func (commons) Invoke(_ context.Context, _ string, request, response any, _ ...grpc.CallOption) error {
	for _, id := range request.(*commonsv1.ResolvePersonsRequest).GetIds() {
		out := response.(*commonsv1.ResolvePersonsResponse)
		out.Persons = append(out.Persons, &commonsv1.PersonState{PersonId: id})
	}
	return nil
}

type fixture struct {
	*Handler
	t   *testing.T
	ctx context.Context
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	return fixture{New(pooltest.New(t), commons{}), t, tenant.With(t.Context(), 1)}
}

// apply stores the application of a new candidate for a new opportunity of recruiter 7.
func (f fixture) apply(email string) (candidateID, applicationID string) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		c, err := candidate.Candidates.Insert(ctx, tx, &recruitingv1.Candidate{}, record.Columns{"email": email})
		require.NoError(f.t, err)
		o, err := opportunity.Opportunities.Insert(ctx, tx, &recruitingv1.Opportunity{}, record.Columns{
			"requisition_number": email, "is_shared_with_everyone": false, "recruiter_id": 7,
		})
		require.NoError(f.t, err)
		a, err := application.Applications.Insert(ctx, tx, &recruitingv1.Application{
			Candidate: &recruitingv1.ApplicationCandidate{Id: c.ID}, Opportunity: &recruitingv1.IdRef{Id: o.ID},
		}, record.Columns{"candidate_id": c.ID, "opportunity_id": o.ID})
		candidateID, applicationID = c.ID, a.ID
		return err
	}))
	return candidateID, applicationID
}

func (f fixture) order(ctx context.Context, applicationID string) (*request, error) {
	return f.CreateBackgroundCheckOrderRequest(ctx, &request{Application: &recruitingv1.IdRef{Id: applicationID}})
}

func newCheck(applicationID, number, status string) *backgroundCheck {
	return &backgroundCheck{
		Author: &recruitingv1.IdRef{Id: record.PersonGUID(3)}, Application: &recruitingv1.IdRef{Id: applicationID}, Status: status, OrderNumber: number,
		Packages: []*recruitingv1.BackgroundCheckPackage{{Name: "Basic"}},
	}
}

func (f fixture) add(candidateID string, c *backgroundCheck) *backgroundCheck {
	f.t.Helper()
	out, err := f.CreateBackgroundCheck(f.ctx, &recruitingv1.CreateBackgroundCheckRequest{Id: candidateID, Body: c})
	require.NoError(f.t, err)
	return out
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	require.NoError(t, prepare(newCheck("a", "1", "Completed")))
	for _, c := range []struct {
		name, code, member string
		change             func(*backgroundCheck)
	}{
		{"no author", CodeMissing, "author.id", func(c *backgroundCheck) { c.Author = nil }},
		{"no application", CodeMissing, "application.id", func(c *backgroundCheck) { c.Application = nil }},
		{"no status", CodeMissing, "status", func(c *backgroundCheck) { c.Status = "" }},
		{"an unknown status", CodeInvalid, "status", func(c *backgroundCheck) { c.Status = "Done" }},
		{"no number", CodeMissing, "order_number", func(c *backgroundCheck) { c.OrderNumber = " " }},
		{"no package", CodeMissing, "packages", func(c *backgroundCheck) { c.Packages = nil }},
		{"a package without a name", CodeMissing, "packages[0].name", func(c *backgroundCheck) { c.Packages[0].Name = "" }},
		{"a screening without a name", CodeMissing, "packages[0].screenings[1].name", func(c *backgroundCheck) {
			c.Packages[0].Screenings = []*recruitingv1.BackgroundCheckScreening{{Name: "Identity"}, {Status: "Clear"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			check := newCheck("a", "1", "Completed")
			c.change(check)
			err := prepare(check)
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
}

func TestBackgroundChecksBelongToAnApplicationOfTheCandidate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, adasApplication := f.apply("ada@example.test")
	bo, bosApplication := f.apply("bo@example.test")
	_, err := f.CreateBackgroundCheck(f.ctx, &recruitingv1.CreateBackgroundCheckRequest{Id: ada, Body: newCheck(bosApplication, "1", "Requested")})
	require.True(t, fault.HasCode(err, application.CodeUnknown) && fault.HasStatus(err, 400), "%v", err)
	made := f.add(ada, newCheck(adasApplication, "a1", "Requested"))
	_, err = f.CreateBackgroundCheck(f.ctx, &recruitingv1.CreateBackgroundCheckRequest{Id: ada, Body: newCheck(adasApplication, "A1", "Requested")})
	require.True(t, fault.HasCode(err, CodeOrderTaken), "%v", err)
	f.add(bo, newCheck(bosApplication, "A1", "Requested"))
	for _, c := range []struct {
		name, candidate, code string
		ctx                   context.Context
	}{
		{"its candidate", ada, "", f.ctx},
		{"its recruiter", ada, "", f.as(7)},
		{"another candidate", bo, CodeUnknown, f.ctx},
		{"another recruiter", ada, candidate.CodeUnknown, f.as(8)},
		{"another tenant", ada, candidate.CodeUnknown, tenant.With(t.Context(), 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.GetBackgroundCheck(c.ctx, &recruitingv1.GetBackgroundCheckRequest{Id: c.candidate, BackgroundCheckId: made.GetId()})
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			require.True(t, fault.HasCode(err, c.code), "%v", err)
		})
	}
}

// as returns the context of a caller whose rows are restricted.
func (f fixture) as(person int64) context.Context {
	return authn.With(f.ctx, &authn.Principal{Tenant: 1, Subject: "a", PersonID: person, Rows: "own"}, "")
}

func TestAVendorPollsForOrdersAndResults(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada, adasApplication := f.apply("ada@example.test")
	_, bosApplication := f.apply("bo@example.test")
	poll := func(list func(context.Context, *recruitingv1.ListBackgroundCheckRequestsRequest) (*recruitingv1.BackgroundCheckRequestList, error), ctx context.Context, token string) []*request {
		out, err := list(ctx, &recruitingv1.ListBackgroundCheckRequestsRequest{Token: token})
		require.NoError(t, err)
		return out.GetItems()
	}
	first, err := f.order(f.as(7), adasApplication)
	require.NoError(t, err)
	assert.Equal(t, record.PersonGUID(7), first.GetAuthor().GetId())
	assert.Equal(t, ada, first.GetCandidate().GetId())
	_, err = f.order(f.ctx, adasApplication)
	require.True(t, fault.HasCode(err, CodeRequested), "%v", err)
	_, err = f.order(f.as(8), bosApplication)
	require.True(t, fault.HasCode(err, application.CodeUnknown), "callers see no other applications: %v", err)
	second, err := f.order(f.ctx, bosApplication)
	require.NoError(t, err)
	orders := poll(f.ListBackgroundCheckOrderRequests, f.ctx, "")
	require.Len(t, orders, 2)
	assert.Equal(t, first.GetToken(), orders[0].GetToken())
	after := poll(f.ListBackgroundCheckOrderRequests, f.ctx, first.GetToken())
	require.Len(t, after, 1)
	assert.Equal(t, second.GetId(), after[0].GetId())
	assert.Empty(t, poll(f.ListBackgroundCheckOrderRequests, f.ctx, second.GetToken()))
	assert.Empty(t, poll(f.ListBackgroundCheckOrderRequests, f.as(8), ""))
	assert.Empty(t, poll(f.ListBackgroundCheckOrderRequests, tenant.With(t.Context(), 2), ""))

	made := f.add(ada, newCheck(adasApplication, "1", "Requested"))
	orders = poll(f.ListBackgroundCheckOrderRequests, f.ctx, "")
	require.Len(t, orders, 1, "the order of the application is done")
	results := poll(f.ListBackgroundCheckResultsRequests, f.ctx, "")
	require.Len(t, results, 1)
	assert.Equal(t, made.GetId(), results[0].GetBackgroundCheck().GetId())
	put := func(number, status string) {
		_, err := f.UpdateBackgroundCheck(f.ctx, &recruitingv1.UpdateBackgroundCheckRequest{Id: ada, BackgroundCheckId: made.GetId(), Body: newCheck(adasApplication, number, status)})
		require.NoError(t, err)
	}
	put("1", "InProgress")
	assert.Empty(t, poll(f.ListBackgroundCheckResultsRequests, f.ctx, results[0].GetToken()), "the vendor has seen the request")
	put("1", "Completed")
	assert.Empty(t, poll(f.ListBackgroundCheckResultsRequests, f.ctx, ""))
	put("2", "InProgress")
	again := poll(f.ListBackgroundCheckResultsRequests, f.ctx, results[0].GetToken())
	require.Len(t, again, 1, "a check that is open again is requested again")
	assert.Equal(t, "2", again[0].GetOrderNumber())
	_, err = f.order(f.ctx, adasApplication)
	require.NoError(t, err, "a new order may follow a check")
}

// A vendor that polls with the last token gets every request, however the transactions overlap.
func TestPollingMissesNoRequest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const count = 24
	applications := make([]string, count)
	for i := range applications {
		_, applications[i] = f.apply(string(rune('a'+i)) + "@example.test")
	}
	var group errgroup.Group
	group.SetLimit(6)
	seen := map[string]bool{}
	polled := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		token, last := "", false
		for {
			select {
			case <-stop:
				last = true
			default:
			}
			list, err := f.ListBackgroundCheckOrderRequests(f.ctx, &recruitingv1.ListBackgroundCheckRequestsRequest{Token: token, Limit: new(int32(3))})
			if err != nil || last && len(list.GetItems()) == 0 {
				polled <- err
				return
			}
			for _, q := range list.GetItems() {
				seen[q.GetApplication().GetId()], token = true, q.GetToken()
			}
		}
	}()
	for _, id := range applications {
		group.Go(func() error {
			_, err := f.order(f.ctx, id)
			return err
		})
	}
	require.NoError(t, group.Wait())
	close(stop)
	require.NoError(t, <-polled)
	assert.Len(t, seen, count)
}
