package document_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/application"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/document"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type fixture struct {
	t    *testing.T
	ctx  context.Context
	pool *pg.Pool
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	ctx := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: "a", PersonID: 7}, "")
	return fixture{t, ctx, pooltest.New(t)}
}

// candidate creates a candidate, and returns the owner of its documents.
func (f fixture) candidate(email string) document.Owner {
	f.t.Helper()
	var owner document.Owner
	require.NoError(f.t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		r, err := candidate.Candidates.Insert(ctx, tx, &recruitingv1.Candidate{}, record.Columns{"email": email})
		if err == nil {
			owner.CandidateID = r.ID
		}
		return err
	}))
	return owner
}

// apply creates an application of a candidate, and returns the owner of its documents.
func (f fixture) apply(owner document.Owner) document.Owner {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		o, err := opportunity.Opportunities.Insert(ctx, tx, &recruitingv1.Opportunity{}, record.Columns{"requisition_number": "1", "is_shared_with_everyone": false})
		if err != nil {
			return err
		}
		a, err := application.Applications.Insert(ctx, tx, &recruitingv1.Application{}, record.Columns{"candidate_id": owner.CandidateID, "opportunity_id": o.ID})
		if err == nil {
			owner.ApplicationID = a.ID
		}
		return err
	}))
	return owner
}

// pdf returns a PDF with a number of bytes.
func pdf(size int) []byte {
	begin, end := "%PDF-1.7\n", "%%EOF\n"
	return fmt.Appendf(nil, "%s%s%s", begin, bytes.Repeat([]byte("x\n"), size)[:size-len(begin)-len(end)], end)
}

// add uploads a file in its own transaction, which locks the candidate.
func (f fixture) add(owner document.Owner, name string, content []byte) (d *recruitingv1.Document, err error) {
	err = pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := candidate.Candidates.Lock(ctx, tx, owner.CandidateID, record.Condition{}); err != nil {
			return err
		}
		d, err = document.Add(ctx, tx, owner, &recruitingv1.UploadDocumentRequest{DocumentType: "Resume", FileName: name, File: content})
		return err
	})
	return d, err
}

func TestADocumentIsUploadedAndDownloaded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner, other := f.candidate("a@example.test"), f.candidate("b@example.test")
	sent := pdf(6 << 20)
	added, err := f.add(owner, "cv.html", sent)
	require.NoError(t, err)
	assert.Equal(t, "cv.html.pdf", added.GetFileName())
	assert.Equal(t, "application/pdf", added.GetContentType())
	assert.Equal(t, "Resume", added.GetDocumentType())
	assert.EqualValues(t, 6<<20, added.GetSize())
	assert.Equal(t, record.PersonGUID(7), added.GetCreator().GetId())
	assert.Equal(t, "/v1/recruiting/candidates/"+owner.CandidateID+"/documents/"+added.GetId()+"/download", added.GetLinks()[0].GetHref())

	file, err := document.Download(f.ctx, f.pool, owner, added.GetId())
	require.NoError(t, err)
	assert.Len(t, file.GetPieces(), 24)
	assert.True(t, bytes.Equal(sent, bytes.Join(file.GetPieces(), nil)))
	assert.Equal(t, "application/pdf", file.GetContentType())
	ofApplication := document.Owner{CandidateID: owner.CandidateID, ApplicationID: other.CandidateID}
	for name, c := range map[string]struct {
		ctx   context.Context
		owner document.Owner
		id    string
	}{
		"of another candidate": {f.ctx, other, added.GetId()},
		"of an application":    {f.ctx, ofApplication, added.GetId()},
		"of another tenant":    {tenant.With(t.Context(), 2), owner, added.GetId()},
		"without a GUID":       {f.ctx, owner, "7"},
		"unknown":              {f.ctx, owner, owner.CandidateID},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := document.Download(c.ctx, f.pool, c.owner, c.id)
			assert.True(t, fault.HasCode(err, document.CodeUnknown), "%v", err)
		})
	}
}

func TestUploadsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.candidate("a@example.test")
	for name, c := range map[string]struct {
		content []byte
		code    string
		status  int
	}{
		"html":         {[]byte("<html></html>"), document.CodeType, 415},
		"a large file": {pdf(6<<20 + 1), document.CodeSize, 413},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.add(owner, "cv.pdf", c.content)
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.True(t, fault.HasStatus(err, c.status), "%v", err)
		})
	}
}

func TestConcurrentUploadsKeepTheLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	owner := f.candidate("a@example.test")
	var group errgroup.Group
	group.SetLimit(6)
	for range 14 {
		group.Go(func() error {
			_, err := f.add(owner, "cv.pdf", pdf(100))
			if fault.HasCode(err, document.CodeFull) {
				return nil
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	ofApplication := f.apply(owner)
	added, err := f.add(ofApplication, "cv.pdf", pdf(100))
	require.NoError(t, err, "an application has its own documents")
	assert.Contains(t, added.GetLinks()[0].GetHref(), "/v1/recruiting/applications/")
	list, err := document.List(f.ctx, f.pool, owner)
	require.NoError(t, err)
	assert.Len(t, list, 10)

	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error { return document.EraseCandidate(ctx, tx, owner.CandidateID) }))
	for name, erased := range map[string]document.Owner{"of the candidate": owner, "of the application": ofApplication} {
		t.Run(name, func(t *testing.T) {
			list, err := document.List(f.ctx, f.pool, erased)
			require.NoError(t, err)
			assert.Empty(t, list)
		})
	}
}
