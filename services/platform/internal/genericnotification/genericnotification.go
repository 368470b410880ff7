package genericnotification

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Handler serves GenericNotificationService.
type Handler struct {
	platformv1.UnsafeGenericNotificationServiceServer
	resource setup.Resource[*notification]
}

var _ platformv1.GenericNotificationServiceServer = (*Handler)(nil)

// New returns a Handler that stores generic notifications in the database of the pool.
func New(pool *pg.Pool) *Handler {
	return &Handler{resource: setup.Resource[*notification]{Kind: Kind(), Pool: pool, Prepare: prepare, AfterStore: afterStore}}
}

// Kind returns the declaration of generic notifications.
func Kind() *setup.Kind[*notification] {
	return setup.NewKind(setup.Declaration[*notification]{
		Codes: setup.Codes{
			Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, TakenConflicts: true, Unknown: CodeUnknown, OtherID: CodeOtherID, InUse: CodeInUse,
		},
		What:  "generic notification",
		Table: "generic_notification",
		Strip: func(n *notification) { n.Localized = nil },
	})
}

// afterStore stores the event of a generic notification, and sets the texts for the caller.
func afterStore(ctx context.Context, tx pgx.Tx, _, stored *notification) error {
	setTexts(ctx, stored)
	return storeEvent(ctx, tx, stored)
}

// ListGenericNotifications returns all generic notifications, sorted by name.
func (h *Handler) ListGenericNotifications(ctx context.Context, _ *platformv1.ListGenericNotificationsRequest) (*platformv1.GenericNotificationList, error) {
	list, err := h.resource.List(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	return &platformv1.GenericNotificationList{Items: list}, localize(ctx, list...)
}

// GetGenericNotification returns one generic notification, or 404.
func (h *Handler) GetGenericNotification(ctx context.Context, req *platformv1.GetGenericNotificationRequest) (*notification, error) {
	n, err := h.resource.Get(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return n, localize(ctx, n)
}

// CreateGenericNotification stores a new generic notification.
func (h *Handler) CreateGenericNotification(ctx context.Context, req *notification) (*notification, error) {
	n, err := h.resource.Create(ctx, req)
	if err != nil {
		return nil, err
	}
	return n, localize(ctx, n)
}

// UpdateGenericNotification replaces a generic notification.
func (h *Handler) UpdateGenericNotification(ctx context.Context, req *platformv1.UpdateGenericNotificationRequest) (*notification, error) {
	n, err := h.resource.Update(ctx, req.GetId(), req.GetBody())
	if err != nil {
		return nil, err
	}
	return n, localize(ctx, n)
}

// DeleteGenericNotification deletes a generic notification, or returns 404.
func (h *Handler) DeleteGenericNotification(ctx context.Context, req *platformv1.DeleteGenericNotificationRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// MultiUpsertGenericNotifications replaces the existing generic notifications and creates the others: all or
// none, or each separately with partial_success.
func (h *Handler) MultiUpsertGenericNotifications(ctx context.Context, req *platformv1.MultiUpsertGenericNotificationsRequest) (*platformv1.GenericNotificationList, error) {
	stored, failure, err := h.resource.UpsertMany(ctx, req.GetBody().GetItems(), req.GetPartialSuccess())
	if err != nil {
		return nil, err
	}
	return &platformv1.GenericNotificationList{Items: stored, Failure: failure}, localize(ctx, stored...)
}

// MultiReadGenericNotifications returns the named generic notifications. The response contains an error for
// each missing one; if all are missing, it is 404.
func (h *Handler) MultiReadGenericNotifications(ctx context.Context, req *platformv1.MultiReadGenericNotificationsRequest) (*platformv1.GenericNotificationList, error) {
	refs, err := collectRefs(req.GetWhere().GetGenericNotifications())
	if err != nil {
		return nil, err
	}
	outcome := &bulk.Outcome[*commonv1.Ref, *notification]{}
	list, err := Kind().Find(ctx, h.resource.Pool, refIDs(refs), refNames(refs))
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if n := pick(list, ref); n != nil {
			outcome.Succeed(ref, n)
		} else {
			outcome.Fail(ref, unknownNotificationError(ref))
		}
	}
	if outcome.Failed() == len(refs) {
		return nil, fault.NotFound(CodeUnknown, "None of the generic notifications in where.genericNotifications exists.")
	}
	if err := localize(ctx, outcome.Successes()...); err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResultWithCode(ctx, outcome, CodeSomeUnknown)
	return &platformv1.GenericNotificationList{Items: done, Failure: failure}, err
}

// MultiDeleteGenericNotifications deletes all of the named generic notifications, or none.
func (h *Handler) MultiDeleteGenericNotifications(ctx context.Context, req *platformv1.MultiDeleteGenericNotificationsRequest) (*emptypb.Empty, error) {
	refs, err := collectRefs(req.GetWhere().GetGenericNotifications())
	if err != nil {
		return nil, err
	}
	list, err := Kind().Find(ctx, h.resource.Pool, refIDs(refs), refNames(refs))
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		if pick(list, ref) == nil {
			return nil, unknownNotificationError(ref)
		}
	}
	return h.resource.DeleteMany(ctx, "where.genericNotifications", refs)
}

func unknownNotificationError(ref *commonv1.Ref) *fault.Error {
	if ref.Id != nil {
		return fault.NotFound(CodeUnknown, fmt.Sprintf("There is no generic notification with the id %d.", ref.GetId()))
	}
	return fault.NotFound(CodeUnknown, fmt.Sprintf("There is no generic notification with the name %.100q.", ref.GetQualifier()))
}
