package assessment

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestPrepare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, code, member string
		a                  *assessment
	}{
		{"the least", "", "", &assessment{Type: "Prehire", Name: "Typing"}},
		{"a result", "", "", &assessment{Type: "WOTC", Name: "Survey", Status: completed, Score: proto.Float64(2), MaxScore: proto.Float64(2), Result: "Eligible", CompletedDate: "2026-03-01"}},
		{"no type", CodeMissing, "type", &assessment{Name: "Typing"}},
		{"an unknown type", CodeInvalid, "type", &assessment{Type: "wotc", Name: "Typing"}},
		{"no name", CodeMissing, "name", &assessment{Type: "Prehire", Name: " "}},
		{"another address", CodeInvalid, "url", &assessment{Type: "Prehire", Name: "Typing", Url: "javascript:alert(1)"}},
		{"an unknown status", CodeInvalid, "status", &assessment{Type: "Prehire", Name: "Typing", Status: "Done"}},
		{"a score too early", CodeInvalid, "score", &assessment{Type: "Prehire", Name: "Typing", Score: proto.Float64(0)}},
		{"a day too early", CodeInvalid, "completed_date", &assessment{Type: "Prehire", Name: "Typing", Status: "InProgress", CompletedDate: "2026-03-01"}},
		{"a score beyond the maximum", CodeInvalid, "score", &assessment{Type: "Prehire", Name: "Typing", Status: completed, Score: proto.Float64(3), MaxScore: proto.Float64(2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := prepare(c.a)
			if c.code == "" {
				require.NoError(t, err)
				assert.NotEmpty(t, c.a.GetStatus())
				return
			}
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
}

func TestAssessmentsBelongToTheirCandidate(t *testing.T) {
	t.Parallel()
	pool, ctx := pooltest.New(t), tenant.With(t.Context(), 1)
	h := New(pool)
	create := func(email string) (id string) {
		require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
			r, err := candidate.Candidates.Insert(ctx, tx, &recruitingv1.Candidate{}, record.Columns{"email": email, "creator_id": 7})
			if err == nil {
				id = r.ID
			}
			return err
		}))
		return id
	}
	ada, bo := create("ada@example.test"), create("bo@example.test")
	made, err := h.CreateCandidateAssessment(ctx, &recruitingv1.CreateCandidateAssessmentRequest{Id: ada, Body: &assessment{Type: "Prehire", Name: "Typing"}})
	require.NoError(t, err)
	as := func(person int64) context.Context {
		return authn.With(ctx, &authn.Principal{Tenant: 1, Subject: "a", PersonID: person, Rows: "own"}, "")
	}
	for _, c := range []struct {
		name, candidate, code string
		ctx                   context.Context
	}{
		{"its candidate", ada, "", ctx},
		{"its candidate's creator", ada, "", as(7)},
		{"another candidate", bo, CodeUnknown, ctx},
		{"another caller", ada, candidate.CodeUnknown, as(8)},
		{"another tenant", ada, candidate.CodeUnknown, tenant.With(t.Context(), 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			read, err := h.GetCandidateAssessment(c.ctx, &recruitingv1.GetCandidateAssessmentRequest{Id: c.candidate, AssessmentId: made.GetId()})
			changed, changeErr := h.UpdateCandidateAssessment(c.ctx, &recruitingv1.UpdateCandidateAssessmentRequest{
				Id: c.candidate, AssessmentId: made.GetId(), Body: &assessment{Type: "Prehire", Name: "Typing", Status: "Expired"},
			})
			if c.code == "" {
				require.NoError(t, err)
				require.NoError(t, changeErr)
				assert.Equal(t, made.GetId(), read.GetId())
				assert.Equal(t, "Expired", changed.GetStatus())
				return
			}
			assert.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.True(t, fault.HasCode(changeErr, c.code), "%v", changeErr)
		})
	}
	list, err := h.ListCandidateAssessments(ctx, &recruitingv1.ListCandidateAssessmentsRequest{Id: bo})
	require.NoError(t, err)
	assert.Empty(t, list.GetItems())
}
