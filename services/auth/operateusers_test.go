package auth_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth"
)

func TestOperatorsSeeWhoIsKeptOut(t *testing.T) {
	t.Parallel()
	b := newFixtureWith(t, strict)
	withClerk(t, b)
	for i := range 3 {
		assertOAuth(t, b.try(t.Context(), string(rune('a'+i)), "chief", "x"), 400, "invalid_grant")
	}
	list := func() string {
		t.Helper()
		var out strings.Builder
		require.NoError(t, (&auth.ListUsersCommand{ID: tenant.Default}).Operate(t.Context(), b.service, &out))
		return out.String()
	}
	assert.Regexp(t, `(?m)^1 +chief +14 +Super +wrong passwords, locked until \S+Z$`, list())
	assert.Regexp(t, `(?m)^1 +other +\d+ +\S.* +may log in$`, list())

	reset, err := b.service.ResetPassword(tenant.With(t.Context(), tenant.Default), "CHIEF")
	require.NoError(t, err)
	assert.Regexp(t, `(?m)^1 +chief +14 +Super +may log in$`, list())
	assert.NoError(t, b.try(t.Context(), "z", "chief", reset.Reveal()))
	var events int
	require.NoError(t, b.pool.QueryRow(tenant.With(t.Context(), tenant.Default),
		`SELECT count(*) FROM audit_event WHERE tenant_id = $1 AND operation = 'user reset-password' AND outcome = 'ok' AND objects = '{CHIEF}'`, tenant.Default).Scan(&events))
	assert.Equal(t, 1, events, "the audit log has the event")
}
