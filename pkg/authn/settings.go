package authn

import "time"

// TokenSettings are the settings of tokens that the service that issues them shares
// with all that accept them.
type TokenSettings struct {
	Issuer   string `name:"token-issuer" default:"rotaloom" help:"Issuer that tokens name."`
	Audience string `name:"token-audience" default:"rotaloom" help:"Audience that access tokens name."`
	// KeySetLife is how long the set of signing keys is kept before it is fetched again.
	KeySetLife time.Duration `name:"key-set-life" default:"5m" help:"How long the set of signing keys is kept before it is asked for again. The next key is published twice as long before its first token. The same in all programs."`
}
