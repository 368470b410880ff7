package personaldata_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/personaldata"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// marker is in every personal text.
const marker = "zqxmarker"

// someGUID is the id of objects that are not personal.
const someGUID = "0d5b6c7e-1111-4a2b-9c3d-222233334444"

type fixture struct {
	*personaldata.Handler
	t    *testing.T
	ctx  context.Context
	pool *pg.Pool
	// candidate and application are the ids of the candidate, and of its application.
	candidate, application string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	pool := pooltest.New(t)
	return &fixture{Handler: personaldata.New(pool), t: t, ctx: tenant.With(t.Context(), 1), pool: pool}
}

// fillMessage returns a message with the marker in every text, also of the messages below, and in one item of
// every list.
func fillMessage[T proto.Message](m T) T {
	fill(m.ProtoReflect())
	return m
}

func fill(m protoreflect.Message) {
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		switch {
		case f.IsList() && f.Message() != nil:
			fill(m.Mutable(f).List().AppendMutable().Message())
		case f.IsList():
			m.Mutable(f).List().Append(protoreflect.ValueOfString(marker))
		case f.Message() != nil:
			fill(m.Mutable(f).Message())
		case f.Kind() == protoreflect.StringKind:
			m.Set(f, protoreflect.ValueOfString(marker))
		}
	}
}

// insert stores a body with the marker in a table.
func insert[T proto.Message](f *fixture, table string, body T, columns record.Columns) (id string) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		r, err := record.Table[T]{Name: table, What: table, Unknown: "WRL-00404"}.Insert(ctx, tx, body, columns)
		if err == nil {
			id = r.ID
		}
		return err
	}))
	return id
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, sql, append([]any{int64(1)}, args...)...)
		return err
	}))
}

// fillAll stores a candidate and all that may belong to it, with the marker in every text. The ids, times
// and statuses that statistics need have other values.
func (f *fixture) fillAll() {
	f.t.Helper()
	f.candidate = insert(f, candidate.Candidates.Name, fillMessage(&recruitingv1.Candidate{}), record.Columns{"email": marker + "@example.test", "person_id": int64(9)})
	f.fillLists()
	f.exec(`INSERT INTO document (tenant_id, candidate_id, document_type, file_name, content_type, size, content) VALUES ($1, $2, $3::text, $3, $3, 9, convert_to($3, 'UTF8'))`, f.candidate, marker)
	opportunityID := insert(f, opportunity.Opportunities.Name, &recruitingv1.Opportunity{}, record.Columns{"requisition_number": "1", "is_shared_with_everyone": false})
	f.fillApplication(opportunityID)
	f.exec(`INSERT INTO document (tenant_id, candidate_id, application_id, document_type, file_name, content_type, size, content) VALUES ($1, $2, $3, $4::text, $4, $4, 9, convert_to($4, 'UTF8'))`,
		f.candidate, f.application, marker)
	f.fillOffer(opportunityID)
	insert(f, "candidate_assessment", fillMessage(&recruitingv1.CandidateAssessment{}), record.Columns{"candidate_id": f.candidate})
	check := insert(f, "background_check", fillMessage(&recruitingv1.BackgroundCheck{}), record.Columns{"candidate_id": f.candidate, "application_id": f.application, "order_number": marker})
	insert(f, "background_check_request", fillMessage(&recruitingv1.BackgroundCheckRequest{}),
		record.Columns{"application_id": f.application, "opportunity_id": opportunityID, "background_check_id": check})
	f.exec(`INSERT INTO hire (tenant_id, id, application_id, opportunity_id, state, person_number, person_id, request) VALUES ($1, $2, $3, $4, 'DONE', $5, 9, '')`,
		someGUID, f.application, opportunityID, marker)
}

// fillLists stores an item in each list of the candidate: those that are its properties, and the others.
func (f *fixture) fillLists() {
	lists := map[string]proto.Message{"comments": &recruitingv1.CandidateComment{}, "references": &recruitingv1.CandidateReference{}}
	for segment, item := range map[string]proto.Message{
		"behaviors": &recruitingv1.CandidateBehavior{}, "educations": &recruitingv1.CandidateEducation{}, "motivations": &recruitingv1.CandidateMotivation{},
		"licenses": &recruitingv1.CandidateLicense{}, "skills": &recruitingv1.CandidateSkill{}, "work-experience": &recruitingv1.CandidateWorkExperience{},
	} {
		lists[segment] = item
	}
	for segment, item := range lists {
		body, err := proto.Marshal(fillMessage(item))
		require.NoError(f.t, err)
		f.exec(`INSERT INTO candidate_item (tenant_id, candidate_id, list, key, body) VALUES ($1, $2, $3, $4, $5)`, f.candidate, segment, marker, body)
	}
}

func (f *fixture) fillApplication(opportunityID string) {
	ref := &recruitingv1.Ref{Id: someGUID, Name: "Referral"}
	a := fillMessage(&recruitingv1.Application{})
	a.Candidate.Id, a.Opportunity, a.JobBoard, a.JobPosting = f.candidate, &recruitingv1.IdRef{Id: opportunityID}, &recruitingv1.IdRef{Id: someGUID}, &recruitingv1.IdRef{Id: someGUID}
	a.ApplicantSource, a.Step, a.AppliedDate, a.CreationMethod, a.IsProcessed = ref, ref, "2026-05-04T09:30:00Z", "", proto.Bool(true)
	f.application = insert(f, application.Applications.Name, a, record.Columns{"candidate_id": f.candidate, "opportunity_id": opportunityID})
	insert(f, "application_comment", fillMessage(&recruitingv1.ApplicationComment{}), record.Columns{"application_id": f.application})
	e := fillMessage(&recruitingv1.DispositionEvent{})
	e.Application, e.OriginStep, e.DestinationStep, e.DispositionReason, e.Author = &recruitingv1.IdRef{Id: f.application}, ref, ref, ref, &recruitingv1.IdRef{Id: someGUID}
	insert(f, "disposition_event", e, record.Columns{"application_id": f.application, "opportunity_id": opportunityID})
}

func (f *fixture) fillOffer(opportunityID string) {
	o := fillMessage(&recruitingv1.Offer{})
	o.Application, o.Status, o.ExpirationDate, o.Creator = &recruitingv1.IdRef{Id: f.application}, "Accepted", "2026-05-30", &recruitingv1.IdRef{Id: someGUID}
	id := insert(f, "offer", o, record.Columns{"application_id": f.application, "opportunity_id": opportunityID})
	a := fillMessage(&recruitingv1.OfferAction{})
	a.Action, a.Author, a.OriginStatus, a.DestinationStatus = "Accept", &recruitingv1.IdRef{Id: someGUID}, "Sent", "Accepted"
	insert(f, "offer_action", a, record.Columns{"offer_id": id})
}
