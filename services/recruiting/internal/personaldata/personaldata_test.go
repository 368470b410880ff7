package personaldata_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
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
	"github.com/rotaloom/rotaloom/services/recruiting/internal/hire"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/personaldata"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestAnErasedCandidateLeavesNoPersonalData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fillAll()
	before := f.tablesWithMarker()
	for _, table := range f.tablesOfCandidates() {
		assert.Contains(t, before, table, "the test stores no personal data in the table, which an erasure must cover")
	}
	counts := f.counts()
	req := &recruitingv1.GetCandidateRequest{Id: f.candidate}
	_, err := f.EraseCandidate(f.ctx, req)
	require.NoError(t, err)
	assert.Empty(t, f.tablesWithMarker())

	assert.Equal(t, counts, f.counts(), "statistics remain")
	_, err = f.EraseCandidate(f.ctx, req)
	assert.True(t, fault.HasCode(err, candidate.CodeUnknown), "%v", err)
	list, err := candidate.New(f.pool, nil).ListCandidates(f.ctx, &recruitingv1.ListCandidatesRequest{UpdatedAfter: "2020-01-01"})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 1)
	assert.True(t, list.GetItems()[0].GetIsDeleted())
	applications, err := application.New(f.pool, clock.NewFake(time.Now()), nil).ListApplications(f.ctx, &recruitingv1.ListApplicationsRequest{})
	require.NoError(t, err)
	require.Len(t, applications.GetItems(), 1)
	assert.Equal(t, f.candidate, applications.GetItems()[0].GetCandidate().GetId())
	assert.True(t, applications.GetItems()[0].GetIsProcessed())
}

func TestAnExportHasAllPersonalData(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fillAll()
	out, err := f.ExportCandidate(f.ctx, &recruitingv1.GetCandidateRequest{Id: f.candidate})
	require.NoError(t, err)
	require.Len(t, out.GetApplications(), 1)
	require.Len(t, out.GetApplications()[0].GetOffers(), 1)
	a, o := out.GetApplications()[0], out.GetApplications()[0].GetOffers()[0]
	parts := map[string]proto.Message{
		"candidate": out.GetCandidate(), "application": a.GetApplication(), "offer": o.GetOffer(), "work experience": out.GetCandidate().GetWorkExperience()[0],
		"license": out.GetCandidate().GetLicenses()[0], "skill": out.GetCandidate().GetSkills()[0], "education": out.GetCandidate().GetEducations()[0],
		"behavior": out.GetCandidate().GetBehaviors()[0], "motivation": out.GetCandidate().GetMotivations()[0], "comment": out.GetComments()[0],
		"reference": out.GetReferences()[0], "document": out.GetDocuments()[0], "assessment": out.GetAssessments()[0], "background check": out.GetBackgroundChecks()[0],
		"comment on the application": a.GetComments()[0], "event": a.GetDispositionEvents()[0], "document of the application": a.GetDocuments()[0],
		"offer action": o.GetActions()[0], "background check request": a.GetBackgroundCheckRequests()[0], "hire": a.GetHires()[0],
	}
	for name, part := range parts {
		t.Run(name, func(t *testing.T) {
			assert.Contains(t, strings.ToLower(protojson.Format(part)), marker)
		})
	}
}

func TestPersonalDataIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fillAll()
	restricted := authn.With(f.ctx, &authn.Principal{Tenant: 1, Subject: "a", PersonID: 7, Rows: "group"}, "")
	for name, c := range map[string]struct {
		ctx  context.Context
		id   string
		code string
	}{
		"for a caller with restricted rows": {restricted, f.candidate, personaldata.CodeRestricted},
		"of an unknown candidate":           {f.ctx, f.application, candidate.CodeUnknown},
		"of another tenant":                 {tenant.With(t.Context(), 2), f.candidate, candidate.CodeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.ExportCandidate(c.ctx, &recruitingv1.GetCandidateRequest{Id: c.id})
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			_, err = f.EraseCandidate(c.ctx, &recruitingv1.GetCandidateRequest{Id: c.id})
			require.True(t, fault.HasCode(err, c.code), "%v", err)
		})
	}
}

func TestACandidateInAHireIsNotErased(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.fillAll()
	f.exec(`UPDATE hire SET state = 'STARTED' WHERE tenant_id = $1`)
	before := f.tablesWithMarker()
	_, err := f.EraseCandidate(f.ctx, &recruitingv1.GetCandidateRequest{Id: f.candidate})
	require.True(t, fault.HasCode(err, hire.CodeRunning), "%v", err)
	assert.Equal(t, before, f.tablesWithMarker())
}

// counts returns the numbers of rows, by the table, that statistics use.
func (f fixture) counts() map[string]int {
	out := map[string]int{}
	for _, table := range []string{"application", "disposition_event", "offer", "offer_action"} {
		var n int
		require.NoError(f.t, f.pool.QueryRow(f.ctx, `SELECT count(*) FROM `+table+` WHERE tenant_id = $1 AND NOT deleted`, int64(1)).Scan(&n))
		out[table] = n
	}
	var n int
	require.NoError(f.t, f.pool.QueryRow(f.ctx, `SELECT count(*) FROM hire WHERE tenant_id = $1 AND state = 'DONE'`, int64(1)).Scan(&n))
	out["hire"] = n
	return out
}

// tablesWithMarker returns the tables of the database that have the marker, as text or in bytes.
func (f fixture) tablesWithMarker() []string {
	var found []string
	for _, table := range f.names(`SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`) {
		var has bool
		sql := `SELECT EXISTS (SELECT FROM ` + pgx.Identifier{table}.Sanitize() + ` r WHERE lower(r::text) LIKE '%' || $1::text || '%' OR r::text LIKE '%' || encode(convert_to($1, 'UTF8'), 'hex') || '%')`
		require.NoError(f.t, f.pool.QueryRow(f.ctx, sql, marker).Scan(&has), table)
		if has {
			found = append(found, table)
		}
	}
	return found
}

// tablesOfCandidates returns the tables whose rows belong to candidates.
func (f fixture) tablesOfCandidates() []string {
	return f.names(`SELECT DISTINCT table_name::text FROM information_schema.columns WHERE table_schema = current_schema() AND column_name IN ('candidate_id', 'application_id', 'offer_id') ORDER BY 1`)
}

func (f fixture) names(sql string) []string {
	list, err := pg.Collect(f.ctx, f.pool, pgx.RowTo[string], sql)
	require.NoError(f.t, err)
	return list
}
