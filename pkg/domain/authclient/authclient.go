// Package authclient asks auth for the data that services and the edge need to verify tokens: its
// keys, the exchange of federated tokens, and the revoked tokens; and for the clocks of tenants. It converts auth's messages for
// pkg/authn and pkg/revocation, which know no service.
package authclient

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/revocation"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// Keys returns a function that fetches the key set of our own issuer.
func Keys(conn grpc.ClientConnInterface) authn.Fetch {
	return keys(authv1.NewTokenServiceClient(conn))
}

func keys(client authv1.TokenServiceClient) authn.Fetch {
	return func(ctx context.Context) (*jose.JSONWebKeySet, error) {
		response, err := client.GetKeySet(ctx, &authv1.GetKeySetRequest{})
		if err != nil {
			return nil, fmt.Errorf("getting the key set: %w", err)
		}
		set := &jose.JSONWebKeySet{}
		for _, key := range response.GetKeys() {
			public, err := base64.RawURLEncoding.DecodeString(key.GetX())
			if err != nil || key.GetCrv() != "Ed25519" || len(public) != ed25519.PublicKeySize {
				return nil, fmt.Errorf("key %q is not an Ed25519 key", key.GetKid())
			}
			set.Keys = append(set.Keys, jose.JSONWebKey{
				Key: ed25519.PublicKey(public), KeyID: key.GetKid(), Algorithm: key.GetAlg(), Use: key.GetUse(),
			})
		}
		return set, nil
	}
}

// Exchange returns a function that exchanges a federated token for our own access token.
func Exchange(conn grpc.ClientConnInterface) authn.Exchange {
	client := authv1.NewFederationServiceClient(conn)
	return func(ctx context.Context, token string) (string, error) {
		response, err := client.ResolveFederatedToken(ctx, &authv1.ResolveFederatedTokenRequest{Token: token})
		if err != nil {
			return "", fmt.Errorf("asking for a federated token: %w", err)
		}
		return response.GetAccessToken(), nil
	}
}

// TenantClock returns a function that asks for the clock of the context's tenant. While an auth of the
// release before still runs during an upgrade, no sandboxes exist, and the answer is unknown.
func TenantClock(conn grpc.ClientConnInterface) tenantclock.Ask {
	client := authv1.NewTenantClockServiceClient(conn)
	return func(ctx context.Context) (tenantclock.State, error) {
		found, err := client.GetTenantClock(ctx, &authv1.GetTenantClockRequest{})
		if status.Code(err) == codes.Unimplemented {
			return tenantclock.State{}, nil
		}
		if err != nil {
			return tenantclock.State{}, fmt.Errorf("ask auth for the clock of the tenant: %w", err)
		}
		return tenantclock.State{Known: found.GetKnown(), Sandbox: found.GetSandbox(), Ahead: time.Duration(found.GetAhead()) * time.Microsecond}, nil
	}
}

// Revocations returns a function that lists the revocations, page by page.
func Revocations(conn grpc.ClientConnInterface) revocation.List {
	return revocations(authv1.NewRevocationServiceClient(conn))
}

func revocations(client authv1.RevocationServiceClient) revocation.List {
	return func(ctx context.Context, since int64, add func(key string, until time.Time)) (int64, error) {
		req := &authv1.ListRevocationsRequest{Since: since}
		var horizon int64
		for {
			page, err := client.ListRevocations(ctx, req)
			if err != nil {
				return 0, fmt.Errorf("ask auth for revocations: %w", err)
			}
			for _, r := range page.GetRevocations() {
				add(r.GetKey(), time.Unix(r.GetExpiresAt(), 0))
			}
			// Revocations that arrive while the pages are read are after the horizon of the first
			// page.
			if req.GetAfter() == nil {
				horizon = page.GetHorizon()
			}
			if page.GetNext() == nil {
				return horizon, nil
			}
			req.After = page.GetNext()
		}
	}
}
