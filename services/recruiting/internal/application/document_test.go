package application

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestAnApplicationHasDocuments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a := f.apply("ada@example.test", f.opportunity(func(_ *recruitingv1.Opportunity, c record.Columns) { c["recruiter_id"] = int64(7) }))
	sent := &recruitingv1.UploadDocumentRequest{Id: a.GetId(), FileName: "cv.pdf", ContentType: "text/html", File: []byte("%PDF-1.7\n%%EOF")}
	added, err := f.UploadApplicationDocument(f.as(7), sent)
	require.NoError(t, err)
	assert.Equal(t, "/v1/recruiting/applications/"+a.GetId()+"/documents/"+added.GetId()+"/download", added.GetLinks()[0].GetHref())
	list, err := f.ListApplicationDocuments(f.as(7), &byID{Id: a.GetId()})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 1)
	assert.Equal(t, added.GetId(), list.GetItems()[0].GetId())
	asked := &recruitingv1.DownloadDocumentRequest{Id: a.GetId(), DocumentId: added.GetId()}
	file, err := f.DownloadApplicationDocument(f.as(7), asked)
	require.NoError(t, err)
	assert.Equal(t, "application/pdf", file.GetContentType())
	assert.Equal(t, sent.GetFile(), file.GetPieces()[0])

	hidden := f.as(8)
	_, err = f.UploadApplicationDocument(hidden, sent)
	assert.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
	_, err = f.ListApplicationDocuments(hidden, &byID{Id: a.GetId()})
	assert.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
	_, err = f.DownloadApplicationDocument(hidden, asked)
	assert.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
}
