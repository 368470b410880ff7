package application

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var now = time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)

const board = "0d5b6c7e-1111-4a2b-9c3d-222233334444"

// commons is a connection to a commons that has the persons below 1,000.
type commons struct{ grpc.ClientConnInterface }

func (commons) Invoke(_ context.Context, _ string, request, response any, _ ...grpc.CallOption) error {
	if request, ok := request.(*commonsv1.ResolvePersonsRequest); ok {
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

// candidate stores a candidate, and returns its id.
func (f fixture) candidate(email string) (id string) {
	f.t.Helper()
	c := &recruitingv1.Candidate{
		Name: &recruitingv1.CandidateName{First: "Ada", Last: "Moreno"}, ContactInfo: &recruitingv1.CandidateContact{Email: email}, IsActive: proto.Bool(true),
	}
	require.NoError(f.t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		r, err := candidate.Candidates.Insert(ctx, tx, c, record.Columns{"email": email})
		id = r.ID
		return err
	}))
	return id
}

// opportunity stores a published opportunity with the standard process, after a change, and returns its id.
func (f fixture) opportunity(change func(*recruitingv1.Opportunity, record.Columns)) (id string) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		process := &ref{Name: "Standard"}
		_, processID, err := configuration.RecruitingProcess.Resolve(ctx, tx, "process", process)
		if err != nil {
			return err
		}
		o := &recruitingv1.Opportunity{
			Status: opportunity.Published, RecruitingProcess: process, JobBoards: []*recruitingv1.OpportunityJobBoard{{Id: board, IsPublishedExternal: true}},
			HeadCount:          &recruitingv1.HeadCount{Max: proto.Int32(2), Hired: proto.Int32(0)},
			FullTimeEquivalent: &recruitingv1.OpportunityFullTimeEquivalent{Filled: proto.Float64(0)},
		}
		columns := record.Columns{"requisition_number": time.Now().String(), "is_shared_with_everyone": false, "recruiting_process_id": processID}
		if change != nil {
			change(o, columns)
		}
		r, err := opportunity.Opportunities.Insert(ctx, tx, o, columns)
		id = r.ID
		return err
	}))
	return id
}

// apply creates the application of a new candidate for an opportunity.
func (f fixture) apply(email, opportunityID string) *application {
	f.t.Helper()
	out, err := f.CreateApplication(f.ctx, request(f.candidate(email), opportunityID))
	require.NoError(f.t, err)
	return out
}

// request returns an application to create.
func request(candidateID, opportunityID string) *application {
	return &application{Candidate: &recruitingv1.ApplicationCandidate{Id: candidateID}, Opportunity: &recruitingv1.IdRef{Id: opportunityID}}
}
