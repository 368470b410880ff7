package candidate

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/document"
)

// UploadCandidateDocument adds a document to a candidate.
func (h *Handler) UploadCandidateDocument(ctx context.Context, req *recruitingv1.UploadDocumentRequest) (out *recruitingv1.Document, err error) {
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		parent, err := Candidates.Lock(ctx, tx, req.GetId(), Visible(ctx, h.visible...))
		if err != nil {
			return err
		}
		out, err = document.Add(ctx, tx, document.Owner{CandidateID: parent.ID}, req)
		return err
	})
	return out, err
}

// ListCandidateDocuments returns the documents of a candidate.
func (h *Handler) ListCandidateDocuments(ctx context.Context, req *byID) (*recruitingv1.DocumentList, error) {
	parent, err := h.get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	list, err := document.List(ctx, h.pool, document.Owner{CandidateID: parent.ID})
	return &recruitingv1.DocumentList{Items: list}, err
}

// DownloadCandidateDocument returns the file of a document of a candidate.
func (h *Handler) DownloadCandidateDocument(ctx context.Context, req *recruitingv1.DownloadDocumentRequest) (*recruitingv1.DocumentFile, error) {
	parent, err := h.get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return document.Download(ctx, h.pool, document.Owner{CandidateID: parent.ID}, req.GetDocumentId())
}
