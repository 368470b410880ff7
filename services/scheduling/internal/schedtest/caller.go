package schedtest

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// As returns the context of a call by a person of the default tenant.
func As(ctx context.Context, personID int64, scope rowvisibility.Scope) context.Context {
	p := &authn.Principal{Tenant: tenant.Default, Subject: "caller", PersonID: personID, Rows: string(scope)}
	return authn.With(tenant.With(ctx, tenant.Default), p, "")
}
