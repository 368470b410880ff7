package application

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

type comment = recruitingv1.ApplicationComment

// comments is the table of comments. No operation reads one of them by its id.
var comments = record.Table[*comment]{Name: "application_comment", What: "comment", Unknown: CodeUnknown}

// ListApplicationComments returns a page of the comments on an application.
func (h *Handler) ListApplicationComments(ctx context.Context, req *recruitingv1.ListApplicationCommentsRequest) (*recruitingv1.ApplicationCommentList, error) {
	a, err := Applications.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	list, err := comments.List(ctx, h.pool, req, Of(a.ID))
	out := &recruitingv1.ApplicationCommentList{}
	for _, r := range list {
		out.Items = append(out.Items, showComment(a.ID, r))
	}
	return out, err
}

// CreateApplicationComment adds a comment to an application.
func (h *Handler) CreateApplicationComment(ctx context.Context, req *recruitingv1.CreateApplicationCommentRequest) (out *comment, err error) {
	c := &comment{Author: req.GetBody().GetAuthor(), Comment: req.GetBody().GetComment(), IsImportant: req.GetBody().GetIsImportant()}
	if strings.TrimSpace(c.GetComment()) == "" {
		return nil, missing("comment")
	}
	if c.Author, err = author(ctx, h.persons, c.GetAuthor()); err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		a, err := Applications.Lock(ctx, tx, req.GetId(), Visible(ctx))
		if err != nil {
			return err
		}
		r, err := comments.Insert(ctx, tx, c, record.Columns{"application_id": a.ID})
		if err != nil {
			return err
		}
		out = showComment(a.ID, r)
		return nil
	})
	return out, err
}

// author returns the given author after a check, or the person of the caller, or nil without one.
func author(ctx context.Context, persons *record.Persons, given *recruitingv1.IdRef) (*recruitingv1.IdRef, error) {
	if given.GetId() != "" {
		_, err := persons.Resolve(ctx, map[string]string{"author.id": given.GetId()})
		return &recruitingv1.IdRef{Id: strings.ToLower(given.GetId())}, err
	}
	if caller := record.Caller(ctx); caller != "" {
		return &recruitingv1.IdRef{Id: caller}, nil
	}
	return nil, nil
}

func showComment(applicationID string, r *record.Record[*comment]) *comment {
	c := r.Show()
	c.Links = []*recruitingv1.Link{{Href: "/v1/recruiting/applications/" + applicationID, Rel: "application"}}
	return c
}
