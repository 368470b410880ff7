package candidate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

func TestACandidateHasDocuments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(f.as(7), ada("ada@example.test")).GetId()
	sent := &recruitingv1.UploadDocumentRequest{Id: id, FileName: "cv.pdf", ContentType: "text/html", File: []byte("%PDF-1.7\n%%EOF")}
	added, err := f.UploadCandidateDocument(f.as(7), sent)
	require.NoError(t, err)
	list, err := f.ListCandidateDocuments(f.as(7), &byID{Id: id})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 1)
	assert.Equal(t, added.GetId(), list.GetItems()[0].GetId())
	file, err := f.DownloadCandidateDocument(f.as(7), &recruitingv1.DownloadDocumentRequest{Id: id, DocumentId: added.GetId()})
	require.NoError(t, err)
	assert.Equal(t, "application/pdf", file.GetContentType())

	hidden := f.as(8)
	_, err = f.UploadCandidateDocument(hidden, sent)
	assert.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
	_, err = f.ListCandidateDocuments(hidden, &byID{Id: id})
	assert.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
	_, err = f.DownloadCandidateDocument(hidden, &recruitingv1.DownloadDocumentRequest{Id: id, DocumentId: added.GetId()})
	assert.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
}
