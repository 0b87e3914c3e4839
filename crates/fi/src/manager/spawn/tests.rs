use super::count;

#[test]
fn a_request_counts_the_ranks_of_all_its_programs() {
    let one = "mcmd=spawn\nnprocs=3\nexecname=a\ntotspawns=2\nspawnssofar=1\nendcmd\n";
    let two = "mcmd=spawn\nnprocs=2\nexecname=b\ntotspawns=2\nspawnssofar=2\nendcmd\n";
    assert_eq!(count(one.as_bytes()), Some(3));
    assert_eq!(count(format!("{one}{two}").as_bytes()), Some(5));
    let none = "mcmd=spawn\nnprocs=0\nexecname=a\nendcmd\n";
    for other in ["cmd=get nprocs=3\n", "nprocs=3\n", "mcmd=spawn\n", none] {
        assert_eq!(count(other.as_bytes()), None, "{other}");
    }
}
