package authn

import "time"

// TokenSettings are the token settings that the issuing service shares with all services that
// accept tokens.
type TokenSettings struct {
	Issuer   string `name:"token-issuer" default:"rotaloom" help:"Issuer that tokens name."`
	Audience string `name:"token-audience" default:"rotaloom" help:"Audience that access tokens name."`
	// KeySetLife is how long the set of signing keys is cached.
	KeySetLife time.Duration `name:"key-set-life" default:"5m" help:"How long the set of signing keys is cached. The next key is published twice as long before its first token. Set the same value in all programs."`
}
