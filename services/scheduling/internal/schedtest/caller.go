package schedtest

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// As is the context of a handler that a person of the default tenant calls.
func As(ctx context.Context, personID int64, scope rowvisibility.Scope) context.Context {
	p := &authn.Principal{Tenant: tenant.Default, Subject: "caller", PersonID: personID, Rows: string(scope)}
	return authn.With(tenant.With(ctx, tenant.Default), p, "")
}
