package rpc

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/preference"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/rpc/validation"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// authenticate determines the caller and the tenant. A public method is open to all callers, and
// ignores tokens: an old token must not keep a user from logging in.
func (ch *Chain) authenticate(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		if c.broken != nil {
			return nil, fmt.Errorf("the contract has no usable policy: %w", c.broken)
		}
		service, err := ch.peerService(ctx, c.policy)
		if err != nil {
			return nil, err
		}
		c.outside = service == ""
		ask := authn.Call{Service: service, Internal: c.policy.Internal}
		if service != "" {
			ask.Tenant = c.incomingTenant()
		}
		if c.policy.Public {
			if ask.Tenant > 0 {
				ctx = tenant.With(ctx, ask.Tenant)
			}
			return next(ctx, c, req)
		}
		ask.Authorization = c.incoming(client.HeaderAuthorization)
		p, token, err := authn.Authenticate(ctx, ch.verifier, ask)
		if err != nil {
			return nil, err
		}
		c.principal = p
		if ch.reportDenial != nil && !p.IsService() {
			ctx, c.watched = authn.Watch(ctx)
		}
		ctx = authn.With(ctx, p, token)
		if p.Tenant > 0 {
			ctx = tenant.With(ctx, p.Tenant)
		} else if !c.policy.WithoutTenant {
			return nil, tenant.Missing()
		}
		return next(ctx, c, req)
	}
}

func (c *call) incomingTenant() int64 {
	id, err := strconv.ParseInt(c.incoming(client.HeaderTenant), 10, 64)
	if err != nil || id < 1 {
		return 0
	}
	return id
}

// authorize rejects methods whose contract has no access rule, unauthenticated callers, and users
// without the method's permission. A trusted service that calls in the name of a user needs no
// permission: the call is part of an operation that the user was permitted.
func (ch *Chain) authorize(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		if !c.policy.Governed() {
			return nil, fault.Forbidden(fault.CodeForbidden, "No caller may use the operation.")
		}
		if !c.policy.Public && c.principal == nil {
			return nil, authn.Missing()
		}
		if need := c.policy.Permission; need != "" && c.principal.Service == "" && !c.principal.Has(need) {
			return nil, authn.NeedsPermission(need, c.policy.AccessPoint, c.policy.ForbiddenCode)
		}
		if c.policy.Wages.Needed && c.principal.Service == "" && !c.principal.Has(policy.WagesRead) {
			return nil, authn.NeedsPermission(policy.WagesRead, c.policy.AccessPoint, c.policy.ForbiddenCode)
		}
		if permission := c.operationPermission(); permission != "" {
			ctx = authn.WithPermission(ctx, permission)
		}
		if len(c.policy.OwnActions) > 0 && c.principal != nil && !c.principal.IsService() {
			ctx = authn.WithOwnRecord(ctx, c.principal, c.policy.OwnActions)
		}
		return next(ctx, c, req)
	}
}

// refuseWrites rejects calls that change data while the service is read-only.
func (ch *Chain) refuseWrites(next handler) handler {
	if ch.writable == nil {
		return next
	}
	return func(ctx context.Context, c *call, req any) (any, error) {
		if c.policy.ChangesData() {
			if err := ch.writable(ctx); err != nil {
				return nil, err
			}
		}
		return next(ctx, c, req)
	}
}

// setTenantClock gives the call the time on the tenant's clock, which it keeps until it ends.
func (ch *Chain) setTenantClock(next handler) handler {
	if ch.clocks == nil {
		return next
	}
	return func(ctx context.Context, c *call, req any) (any, error) {
		ctx, err := ch.clocks.In(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the clock of the tenant: %w", err)
		}
		return next(ctx, c, req)
	}
}

// bindCondition passes the If-Match of the request to the method that compares it. Calls of a
// service for a user have no condition: the user's operation compares it.
func (ch *Chain) bindCondition(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		if text := c.incoming(client.HeaderIfMatch); text != "" && c.outside && c.policy.Versioned {
			condition, err := precondition.Read(text)
			if err != nil {
				return nil, err
			}
			ctx = precondition.With(ctx, condition)
		}
		return next(ctx, c, req)
	}
}

// bindPreference passes the time that the caller wants to wait to methods that wait.
func (ch *Chain) bindPreference(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		if text := c.incoming(client.HeaderWait); text != "" && c.outside && c.policy.Waits {
			seconds, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("rpc: the time to wait: %w", err)
			}
			ctx = preference.WithWait(ctx, time.Duration(seconds)*time.Second)
		}
		return next(ctx, c, req)
	}
}

// operationPermission returns the permission that the user's operation needs: this method's, or for
// calls of a trusted service, the one that the service names.
func (c *call) operationPermission() string {
	if c.outside || c.policy.Edge {
		return c.policy.Permission
	}
	return c.incoming(client.HeaderPermission)
}

// readRequest reads the request; the steps before it cannot see it.
func (ch *Chain) readRequest(next handler) handler {
	return func(ctx context.Context, c *call, _ any) (any, error) {
		return c.decode(ctx, func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			c.handle = handle
			return next(ctx, c, req)
		})
	}
}

// valueChecks are the checks of the values of a request, in order.
var valueChecks = [...]func(*call, proto.Message) error{
	func(c *call, req proto.Message) error { return c.policy.CleanNames(req) },
	func(c *call, req proto.Message) error { return c.policy.CheckFormats(req) },
	func(c *call, req proto.Message) error { return c.policy.CheckLimits(req) },
	(*call).validate,
	func(c *call, req proto.Message) error { return c.policy.CheckRanges(req) },
}

// checkValues rejects requests with values that their contract does not allow. The error is the one of the first check
// that fails, and lists the faults that the others find.
func (ch *Chain) checkValues(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		for i, check := range valueChecks {
			first := check(c, req.(proto.Message))
			if first == nil {
				continue
			}
			errs := []error{first}
			for _, later := range valueChecks[i+1:] {
				errs = append(errs, later(c, req.(proto.Message)))
			}
			return nil, fault.Join(errs...)
		}
		return next(ctx, c, req)
	}
}

// validate checks the request against the validation rules of its contract, if it has any. All
// services of a process share one validator: separate ones would each hold the types of all
// contracts, and every garbage collection scans those.
func (c *call) validate(req proto.Message) error {
	if !c.rules {
		return nil
	}
	if err := protovalidate.Validate(req); err != nil {
		return validation.Fault(c.policy.Input, err)
	}
	return nil
}

// guardWages rejects requests that state wages from users without the permission for it, and
// removes wages from responses to users who may not read them. It skips calls of services: their
// responses do not go to users unchanged.
func (ch *Chain) guardWages(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		if !c.outside || c.principal == nil {
			return next(ctx, c, req)
		}
		if !c.principal.Has(policy.WagesWrite) {
			if err := c.policy.Wages.CheckStated(req.(proto.Message)); err != nil {
				return nil, err
			}
		}
		response, err := next(ctx, c, req)
		if err != nil || !c.policy.Wages.Shown() || c.principal.Has(policy.WagesRead) {
			return response, err
		}
		return c.policy.Wages.Without(response.(proto.Message))
	}
}
