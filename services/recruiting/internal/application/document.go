package application

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/document"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// UploadApplicationDocument adds a document to an application.
func (h *Handler) UploadApplicationDocument(ctx context.Context, req *recruitingv1.UploadDocumentRequest) (out *recruitingv1.Document, err error) {
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		a, err := Applications.Lock(ctx, tx, req.GetId(), Visible(ctx))
		if err != nil {
			return err
		}
		out, err = document.Add(ctx, tx, documentOwner(a), req)
		return err
	})
	return out, err
}

// ListApplicationDocuments returns the documents of an application.
func (h *Handler) ListApplicationDocuments(ctx context.Context, req *byID) (*recruitingv1.DocumentList, error) {
	a, err := Applications.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	list, err := document.List(ctx, h.pool, documentOwner(a))
	return &recruitingv1.DocumentList{Items: list}, err
}

// DownloadApplicationDocument returns the file of a document of an application.
func (h *Handler) DownloadApplicationDocument(ctx context.Context, req *recruitingv1.DownloadDocumentRequest) (*recruitingv1.DocumentFile, error) {
	a, err := Applications.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	return document.Download(ctx, h.pool, documentOwner(a), req.GetDocumentId())
}

func documentOwner(a *record.Record[*application]) document.Owner {
	return document.Owner{CandidateID: a.Body.GetCandidate().GetId(), ApplicationID: a.ID}
}
