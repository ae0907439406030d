// cannot find operator '++' in scope
import Default

func misuse() {
    Defaults["count"]++
}
