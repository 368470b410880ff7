// Package authclient is how the other services and the edge ask auth what they
// verify tokens by: its keys, what stands for a federated token, and which tokens
// were revoked. It turns auth's messages into what pkg/authn and pkg/revocation
// work with, which know no service.
package authclient

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/revocation"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// Keys gets the key set of our own issuer.
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

// Exchange asks for the access token that stands for a federated one.
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

// Revocations lists what was revoked, page by page.
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
			// What comes while the pages are read stands behind the horizon of the first.
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
