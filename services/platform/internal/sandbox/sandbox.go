// Package sandbox shows and advances the clock of a sandbox tenant, which auth owns.
package sandbox

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Handler serves SandboxService.
type Handler struct {
	platformv1.UnsafeSandboxServiceServer
	clocks authv1.TenantClockServiceClient
}

var _ platformv1.SandboxServiceServer = (*Handler)(nil)

// New returns a Handler that uses the clocks of auth.
func New(clocks authv1.TenantClockServiceClient) *Handler { return &Handler{clocks: clocks} }

// GetSandboxClock returns the clock of the sandbox, or 404.
func (h *Handler) GetSandboxClock(ctx context.Context, _ *platformv1.GetSandboxClockRequest) (*platformv1.SandboxClock, error) {
	found, err := h.clocks.GetTenantClock(ctx, &authv1.GetTenantClockRequest{})
	if err != nil {
		return nil, fmt.Errorf("read the clock of a sandbox: %w", err)
	}
	if !found.GetSandbox() {
		return nil, tenantclock.NoSandbox()
	}
	return message(found), nil
}

// AdvanceSandboxClock advances the clock of the sandbox. It returns the work that became due.
func (h *Handler) AdvanceSandboxClock(ctx context.Context, req *platformv1.AdvanceSandboxClockRequest) (*platformv1.SandboxClock, error) {
	done, err := h.clocks.AdvanceTenantClock(ctx, &authv1.AdvanceTenantClockRequest{DateTime: req.GetDateTime(), Advance: req.GetAdvance()})
	if err != nil {
		return nil, fmt.Errorf("advance the clock of a sandbox: %w", err)
	}
	out := message(done.GetClock())
	out.DueWorkCount = proto.Int64(done.GetWorkCount())
	for _, w := range done.GetWork() {
		action := "END_LOCKOUT"
		if w.GetLockedOut() {
			action = "LOCK_OUT"
		}
		out.DueWork = append(out.DueWork, &platformv1.SandboxDueWork{
			DateTime: instant(time.UnixMicro(w.GetDueAt())), Action: action, Person: &commonv1.Ref{Id: proto.Int64(w.GetPersonId())},
		})
	}
	return out, nil
}

func message(c *authv1.TenantClock) *platformv1.SandboxClock {
	now, ahead := time.UnixMicro(c.GetRealTime()).UTC(), time.Duration(c.GetAhead())*time.Microsecond
	return &platformv1.SandboxClock{
		DateTime: instant(now.Add(ahead)), RealDateTime: instant(now), AheadSeconds: proto.Int64(int64(ahead / time.Second)),
		LatestDateTime: instant(tenantclock.Latest(now)),
	}
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
