package schedtest

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/rows"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// As is the context of a handler that a person of the default tenant calls.
func As(ctx context.Context, personID int64, scope rows.Scope) context.Context {
	p := &authn.Principal{Tenant: tenant.Default, Subject: "caller", PersonID: personID, Rows: string(scope)}
	return authn.With(tenant.With(ctx, tenant.Default), p, "")
}
