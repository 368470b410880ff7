package user

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
)

// refuseEscalation keeps callers from giving others more than they may do
// themselves, and from taking over, by a new password, or removing the account of
// somebody who may do more. A service that works for nobody in particular may do all.
// The error says which users it concerns, in details.error-offsets, and why, in
// details.results, which has an entry for each user.
func (h *Handler) refuseEscalation(ctx context.Context, tenantID int64, users []*authv1.User) error {
	given := make([]profile.Given, len(users))
	for i, u := range users {
		given[i] = profile.Given{PersonID: u.GetPersonId(), Profile: u.GetAccessProfile()}
	}
	refused, err := profile.CheckAssigned(ctx, h.pool, tenantID, h.permissions, given)
	if err != nil {
		return err
	}
	return refusedOf(refused)
}

// refusedOf is the error for a list of which some are refused, or nil: that of the
// first one, with details of all.
func refusedOf(refused []*fault.Error) error {
	var first *fault.Error
	details := &commonv1.ErrorDetails{Results: make([]*commonv1.BulkResult, len(refused))}
	for i, f := range refused {
		details.Results[i] = &commonv1.BulkResult{}
		if f == nil {
			continue
		}
		if first == nil {
			first = f
		}
		details.ErrorOffsets = append(details.ErrorOffsets, int32(i))
		details.Results[i].Error = &commonv1.ErrorBody{ErrorCode: f.Code, Message: f.Message}
	}
	if first == nil {
		return nil
	}
	return fault.New(first.Code, first.Status, first.Message).WithDetails(details)
}

// endOtherProfiles ends the tokens of users who are about to get another access
// profile: what their tokens say would no longer be so.
func (h *Handler) endOtherProfiles(ctx context.Context, tx pg.Querier, tenantID int64, users []*authv1.User) error {
	_, persons := columns(users)
	profiles := make([]string, len(users))
	for i, u := range users {
		profiles[i] = u.GetAccessProfile()
	}
	return revoked.OtherProfiles(ctx, tx, tenantID, persons, profiles, h.clock.Now())
}
