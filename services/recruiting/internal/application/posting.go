package application

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// ListPostings returns a page of the published opportunities of a job board, in the order of their creation.
func (h *Handler) ListPostings(ctx context.Context, req *recruitingv1.ListPostingsRequest) (*recruitingv1.PostingList, error) {
	board, err := h.board(ctx, req.GetIntegrationId())
	if err != nil {
		return nil, err
	}
	byCursor, err := cursor.Read[uuid.UUID](req, "page")
	if err != nil {
		return nil, err
	}
	page, size := max(1, req.GetPage()), req.GetPerPage()
	if size == 0 {
		size = record.DefaultPageSize
	}
	visible := opportunity.Visible(ctx)
	args := pgx.NamedArgs{"tenant": tenant.Of(ctx), "board": board, "rows": size + 1, "skipped": int64(page-1) * int64(size)}
	for name, value := range visible.Args {
		args[name] = value
	}
	sql := `SELECT r.id::text, r.body FROM opportunity r
WHERE r.tenant_id = @tenant AND r.is_published AND NOT r.deleted AND r.job_board_ids @> ARRAY[@board::uuid]`
	if visible.SQL != "" {
		sql += " AND (" + visible.SQL + ")"
	}
	order := " ORDER BY r.created_at, r.id"
	if byCursor != nil {
		order = " ORDER BY r.id"
		if byCursor.After != nil {
			sql, args["after"] = sql+" AND r.id > @after::uuid", byCursor.After.String()
		}
	}
	scan := func(row pgx.CollectableRow) (*recruitingv1.Posting, error) { return scanPosting(row, board) }
	list, err := pg.Collect(ctx, h.pool, scan, sql+order+" LIMIT @rows OFFSET @skipped", args)
	if err != nil {
		return nil, fmt.Errorf("list the postings of a job board: %w", err)
	}
	if byCursor != nil {
		list, next := cursor.Cut(byCursor, list, int(size), func(p *recruitingv1.Posting) uuid.UUID { return uuid.MustParse(p.GetOpportunity().GetId()) })
		return &recruitingv1.PostingList{Items: list}, rpc.SetNextPage(ctx, next)
	}
	more := len(list) > int(size)
	return &recruitingv1.PostingList{Items: list[:min(len(list), int(size))]}, rpc.SetPageNumber(ctx, page, more)
}

// ListBoardDispositionEvents returns a page of the events of the applications that come from a job board.
func (h *Handler) ListBoardDispositionEvents(ctx context.Context, req *recruitingv1.ListBoardDispositionEventsRequest) (*recruitingv1.DispositionEventList, error) {
	board, err := h.board(ctx, req.GetIntegrationId())
	if err != nil {
		return nil, err
	}
	return h.listEvents(ctx, req, Visible(ctx).And(record.Condition{SQL: "r.job_board_id = @board", Args: pgx.NamedArgs{"board": board}}))
}

// board returns the GUID of a job board in lower case, or 404 if there is none.
func (h *Handler) board(ctx context.Context, guid string) (string, error) {
	boards := setup.Resource[*recruitingv1.JobBoard]{Kind: configuration.JobBoard.Kind, Pool: h.pool}
	board, err := boards.GetGUID(ctx, guid)
	return board.GetId(), err
}

// scanPosting reads the id and the body of an opportunity as its posting on a job board.
func scanPosting(row pgx.CollectableRow, board string) (*recruitingv1.Posting, error) {
	var id string
	var body []byte
	if err := row.Scan(&id, &body); err != nil {
		return nil, err
	}
	o := &recruitingv1.Opportunity{}
	if err := proto.Unmarshal(body, o); err != nil {
		return nil, fmt.Errorf("decode opportunity %s: %w", id, err)
	}
	out := &recruitingv1.Posting{
		Id: PostingID(id, board), Opportunity: &recruitingv1.IdRef{Id: id}, JobBoard: &recruitingv1.IdRef{Id: board},
		RequisitionNumber: o.GetRequisitionNumber(), Title: o.GetTitle(), Description: o.GetDescription().GetBrief().GetExternal(), PublishedDate: o.GetPublishedDate(),
		Links: []*recruitingv1.Link{{Href: "/v1/recruiting/opportunities/" + id, Rel: "opportunity"}},
	}
	if i := slices.IndexFunc(o.GetJobBoards(), func(b *recruitingv1.OpportunityJobBoard) bool { return b.GetId() == board }); i >= 0 {
		on := o.GetJobBoards()[i]
		out.IsPublishedInternal, out.IsPublishedExternal, out.RecruitingApplyUrl = on.GetIsPublishedInternal(), on.GetIsPublishedExternal(), on.GetRecruitingApplyUrl()
	}
	return out, nil
}
