package opportunity

import (
	"context"
	"sync/atomic"
	"testing"

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
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// commons is a connection to a commons that has the job N and the persons below 1,000.
type commons struct{ grpc.ClientConnInterface }

func (commons) Invoke(_ context.Context, _ string, request, response any, _ ...grpc.CallOption) error {
	switch request := request.(type) {
	case *commonsv1.ResolveJobCodesRequest:
		for _, code := range request.GetCodes() {
			if code == "N" {
				response.(*commonsv1.ResolveJobCodesResponse).Codes = []string{code}
			}
		}
	case *commonsv1.ResolvePersonsRequest:
		for _, id := range request.GetIds() {
			if id < 1000 {
				out := response.(*commonsv1.ResolvePersonsResponse)
				out.Persons = append(out.Persons, &commonsv1.PersonState{PersonId: id})
			}
		}
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
	return fixture{New(pooltest.New(t), clock.NewFake(now), commons{}), t, tenant.With(t.Context(), 1)}
}

// as returns the context of a caller whose rows are restricted.
func (f fixture) as(person int64) context.Context {
	return authn.With(f.ctx, &authn.Principal{Tenant: 1, Subject: "a", PersonID: person, Rows: "own"}, "")
}

func (f fixture) create(change func(*opportunity)) *opportunity {
	f.t.Helper()
	o := full()
	o.RecruitingProcess = &ref{Name: "Standard"}
	o.JobBoards[0].Id = f.board()
	if change != nil {
		change(o)
	}
	out, err := f.CreateOpportunity(f.ctx, o)
	require.NoError(f.t, err)
	return out
}

// board returns the GUID of the job board of the public.
func (f fixture) board() (id string) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		to := &ref{Name: "Careers page"}
		resolve(&resolver{ctx: ctx, tx: tx}, configuration.JobBoard, "board", to)
		id = to.GetId()
		return nil
	}))
	return id
}

func (f fixture) publish(id string) *opportunity {
	f.t.Helper()
	o, err := f.PublishOpportunity(f.ctx, &recruitingv1.ChangeOpportunityRequest{Id: id})
	require.NoError(f.t, err)
	return o
}

func TestAnOpportunityIsPublishedAndClosed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	draft := f.create(nil)
	assert.Equal(t, "REQ000001", draft.GetRequisitionNumber())
	assert.Equal(t, "REQ000002", f.create(nil).GetRequisitionNumber())
	assert.Empty(t, draft.GetRecruitingProcess().GetName())
	assert.NotEmpty(t, draft.GetRecruitingProcess().GetId())
	published := f.publish(draft.GetId())
	assert.Equal(t, Published, published.GetStatus())
	assert.True(t, published.GetJobBoards()[0].GetIsPublishedExternal())
	assert.False(t, published.GetJobBoards()[0].GetIsPublishedInternal())
	closed, err := f.CloseOpportunity(f.ctx, &recruitingv1.ChangeOpportunityRequest{Id: draft.GetId()})
	require.NoError(t, err)
	assert.Equal(t, Closed, closed.GetStatus())
	assert.False(t, closed.GetJobBoards()[0].GetIsPublishedExternal())
	read, err := f.GetOpportunity(f.ctx, &byID{Id: draft.GetId()})
	require.NoError(t, err)
	assert.True(t, proto.Equal(closed, read))
	_, err = f.GetOpportunity(tenant.With(t.Context(), 2), &byID{Id: draft.GetId()})
	require.True(t, fault.HasStatus(err, 404), "%v", err)
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.create(func(o *opportunity) { o.RequisitionNumber = "Ward-1" })
	for _, c := range []struct {
		name, member string
		status       int
		o            *opportunity
	}{
		{"a number twice", "requisition_number", 409, &opportunity{RequisitionNumber: "WARD-1"}},
		{"an unknown job", "job.code", 400, &opportunity{Job: &recruitingv1.OpportunityJob{Code: "X"}}},
		{"an unknown person", "hiring_manager.id", 400, &opportunity{HiringManager: &recruitingv1.IdRef{Id: record.PersonGUID(1000)}}},
		{"an unknown company", "company", 400, &opportunity{Company: &ref{Name: "Nobody"}}},
		{"an unknown location", "locations[0]", 400, &opportunity{Locations: []*ref{{Id: board}}}},
		{"an unknown board", "job_boards[0]", 400, &opportunity{JobBoards: []*recruitingv1.OpportunityJobBoard{{Id: board}}}},
		{"an unknown behavior", "behavior_criteria[0].behavior", 400, &opportunity{BehaviorCriteria: []*recruitingv1.BehaviorCriterion{{Behavior: &ref{Name: "x"}}}}},
		{"an unknown unit", "org_unit_groups[0].org_units[0]", 400, &opportunity{OrgUnitGroups: []*recruitingv1.OrgUnitGroup{{OrgUnits: []*ref{{Name: "x"}}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := f.CreateOpportunity(f.ctx, c.o)
			require.True(t, fault.HasStatus(err, c.status), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
}

func TestOnePublisherWins(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(nil).GetId()
	var won, lost atomic.Int32
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			_, err := f.PublishOpportunity(f.ctx, &recruitingv1.ChangeOpportunityRequest{Id: id})
			switch {
			case err == nil:
				won.Add(1)
			case fault.HasCode(err, CodeStatus):
				lost.Add(1)
			default:
				return err
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	assert.EqualValues(t, 1, won.Load())
	assert.EqualValues(t, 7, lost.Load())
}

func TestConcurrentHiresNeverExceedTheHeadCount(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(func(o *opportunity) { o.HeadCount = &recruitingv1.HeadCount{Max: proto.Int32(3)} }).GetId()
	f.publish(id)
	var hired, refused atomic.Int32
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			err := pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
				r, err := Opportunities.Lock(ctx, tx, id, Visible(ctx))
				if err != nil {
					return err
				}
				return Hired(ctx, tx, r, 1, now)
			})
			switch {
			case err == nil:
				hired.Add(1)
			case fault.HasCode(err, CodeFilled):
				refused.Add(1)
			default:
				return err
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	assert.EqualValues(t, 3, hired.Load())
	assert.EqualValues(t, 5, refused.Load())
	o, err := f.GetOpportunity(f.ctx, &byID{Id: id})
	require.NoError(t, err)
	assert.Equal(t, Closed, o.GetStatus())
	assert.EqualValues(t, 3, o.GetHeadCount().GetHired())
	assert.Zero(t, o.GetHeadCount().GetRemaining())
}

func TestRestrictedCallersSeeTheirOpportunities(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	person := func(id int64) *recruitingv1.IdRef { return &recruitingv1.IdRef{Id: record.PersonGUID(id)} }
	ids := map[string]string{
		"nobody":     f.create(nil).GetId(),
		"recruiter":  f.create(func(o *opportunity) { o.Recruiter = person(7) }).GetId(),
		"manager":    f.create(func(o *opportunity) { o.HiringManager = person(7) }).GetId(),
		"onboarding": f.create(func(o *opportunity) { o.OnboardingOwner = person(7) }).GetId(),
		"everyone":   f.create(func(o *opportunity) { o.IsSharedWithEveryone = proto.Bool(true) }).GetId(),
		"shared":     f.create(func(o *opportunity) { o.Recruiter = person(8) }).GetId(),
	}
	before, err := f.GetOpportunity(f.ctx, &byID{Id: ids["shared"]})
	require.NoError(t, err)
	share := &recruitingv1.ShareOpportunityRequest{Id: ids["shared"], Body: &recruitingv1.OpportunityRecruiter{Id: record.PersonGUID(7)}}
	_, err = f.ShareOpportunity(f.as(7), share)
	require.True(t, fault.HasStatus(err, 404), "callers cannot share what they cannot see: %v", err)
	_, err = f.ShareOpportunity(f.as(8), share)
	require.NoError(t, err)
	_, err = f.ShareOpportunity(f.as(8), share)
	require.True(t, fault.HasCode(err, CodeShared), "%v", err)
	for _, c := range []struct {
		person int64
		sees   []string
	}{
		{7, []string{"recruiter", "manager", "onboarding", "everyone", "shared"}},
		{8, []string{"everyone", "shared"}},
		{9, []string{"everyone"}},
		{0, []string{"everyone"}},
	} {
		t.Run(record.PersonGUID(c.person), func(t *testing.T) {
			list, err := f.ListOpportunities(f.as(c.person), &recruitingv1.ListOpportunitiesRequest{})
			require.NoError(t, err)
			var got, want []string
			for _, o := range list.GetItems() {
				got = append(got, o.GetId())
			}
			for _, name := range c.sees {
				want = append(want, ids[name])
			}
			assert.ElementsMatch(t, want, got)
		})
	}
	_, err = f.PublishOpportunity(f.as(9), &recruitingv1.ChangeOpportunityRequest{Id: ids["nobody"]})
	require.True(t, fault.HasStatus(err, 404), "%v", err)
	recruiters, err := f.ListOpportunityRecruiters(f.as(7), &byID{Id: ids["shared"]})
	require.NoError(t, err)
	require.Len(t, recruiters.GetItems(), 1)
	assert.Equal(t, record.PersonGUID(7), recruiters.GetItems()[0].GetId())
	later, err := f.ListOpportunities(f.as(7), &recruitingv1.ListOpportunitiesRequest{UpdatedAfter: before.GetUpdatedAt()})
	require.NoError(t, err)
	require.Len(t, later.GetItems(), 1, "incremental reads of the recruiter find the shared opportunity")

	var n int
	visible := VisibleThrough(f.as(7), "opportunity_id")
	visible.Args["tenant"] = int64(1)
	require.NoError(t, f.pool.QueryRow(f.ctx, "SELECT count(*) FROM opportunity_recruiter r WHERE r.tenant_id = @tenant AND "+visible.SQL, visible.Args).Scan(&n))
	assert.Equal(t, 1, n)
}

func TestAnsweredQuestionsStay(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(nil).GetId()
	add := func(asked string) *question {
		q, err := f.CreateScreeningQuestion(f.ctx, &recruitingv1.CreateScreeningQuestionRequest{Id: id, Body: &question{Question: map[string]string{"en_us": asked}, Type: numeric}})
		require.NoError(t, err)
		return q
	}
	first, second := add("How many years?"), add("How many languages?")
	update := func(q *question) error {
		_, err := f.UpdateScreeningQuestion(f.ctx, &recruitingv1.UpdateScreeningQuestionRequest{Id: id, QuestionId: q.GetId(), Body: &question{Question: map[string]string{"en_us": "Why?"}, Type: text}})
		return err
	}
	require.NoError(t, update(second))
	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		return Answered(ctx, tx, "responses", id, []Answer{{QuestionID: first.GetId(), Text: "4"}})
	}))
	require.True(t, fault.HasCode(update(first), CodeQuestionAnswered))
	gone, err := f.DeactivateScreeningQuestion(f.ctx, &recruitingv1.DeactivateScreeningQuestionRequest{Id: id, QuestionId: first.GetId()})
	require.NoError(t, err)
	assert.False(t, gone.GetIsActive())
	list, err := f.ListScreeningQuestions(f.ctx, &byID{Id: id})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 2)
	assert.Equal(t, first.GetId(), list.GetItems()[0].GetId(), "the order is the one of the creation")
	other := f.create(nil).GetId()
	_, err = f.DeactivateScreeningQuestion(f.ctx, &recruitingv1.DeactivateScreeningQuestionRequest{Id: other, QuestionId: second.GetId()})
	require.True(t, fault.HasCode(err, CodeQuestionUnknown), "%v", err)
}

func TestCountriesNeedAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var place string
	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, `INSERT INTO physical_location (tenant_id, name, body) VALUES (1, 'London', $1) RETURNING guid::text`,
			marshal(t, &recruitingv1.PhysicalLocation{IsActive: proto.Bool(true), Address: &recruitingv1.PlaceAddress{Country: &recruitingv1.CodedName{Code: "GB"}}})).Scan(&place)
	}))
	o := f.create(func(o *opportunity) { o.Locations = []*ref{{Id: place}} })
	asked := listQuestions([]string{"GB"})[0].GetId()
	for name, c := range map[string]struct {
		code    string
		answers []Answer
	}{
		"yes":         {"", []Answer{{QuestionID: asked, Text: "Yes"}}},
		"no answer":   {CodeAnswer, nil},
		"no choice":   {CodeAnswer, []Answer{{QuestionID: asked, Text: "Perhaps"}}},
		"no question": {CodeQuestionUnknown, []Answer{{QuestionID: board, Text: "Yes"}}},
	} {
		t.Run(name, func(t *testing.T) {
			err := pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
				return CountryAnswered(ctx, tx, "responses", o, c.answers)
			})
			require.Equal(t, c.code == "", err == nil, "%v", err)
			assert.True(t, err == nil || fault.HasCode(err, c.code), "%v", err)
			if err == nil {
				assert.Equal(t, multipleChoice, c.answers[0].Type)
			}
		})
	}
}

func marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	body, err := proto.Marshal(m)
	require.NoError(t, err)
	return body
}

func TestAssessmentNamesAreUnique(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(nil).GetId()
	add := func(name string) (*assessment, error) {
		return f.CreateOpportunityAssessment(f.ctx, &recruitingv1.CreateOpportunityAssessmentRequest{Id: id, Body: &assessment{Name: name}})
	}
	first, err := add("Typing")
	require.NoError(t, err)
	_, err = add("TYPING")
	require.True(t, fault.HasCode(err, CodeAssessmentTaken), "%v", err)
	_, err = f.DeleteOpportunityAssessment(f.ctx, &recruitingv1.OpportunityAssessmentRequest{Id: id, AssessmentId: first.GetId()})
	require.NoError(t, err)
	_, err = add("TYPING")
	require.NoError(t, err)
	list, err := f.ListOpportunityAssessments(f.ctx, &byID{Id: id})
	require.NoError(t, err)
	assert.Len(t, list.GetItems(), 1)
}
